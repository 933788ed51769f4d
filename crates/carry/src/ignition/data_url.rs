//! The shortest data URL for a content. [`bringup_spec::data_url`] reads them.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::compress::{Packer, gzip_strong};
use crate::render::Form;

/// Below this, gzip's own header and trailer cost more than it saves.
const SMALLEST_TO_COMPRESS: usize = 200;
/// What `"compression":"gzip",` adds to a config.
const COMPRESSION_KEY: usize = 21;

/// A content as an address, and whether what the address holds is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) url: String,
    pub(crate) gzip: bool,
}

/// How content is compressed.
pub(crate) enum Effort {
    None,
    Usual(Packer),
    Strong,
}

impl Effort {
    pub(crate) fn of(form: Form) -> Self {
        match form {
            Form::Plain => Self::None,
            Form::Gzip => Self::Usual(Packer::new(flate2::Compression::fast())),
            Form::StrongGzip => Self::Strong,
        }
    }

    fn gzip(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            _ if bytes.len() < SMALLEST_TO_COMPRESS => None,
            Self::None => None,
            Self::Usual(packer) => Some(packer.gzip(bytes)),
            Self::Strong => Some(gzip_strong(bytes)),
        }
    }
}

const ESCAPED: &str = "data:,";
const ENCODED: &str = "data:;base64,";

/// The lengths of the address with the bytes escaped, and with them in base64.
fn lengths(bytes: &[u8]) -> (usize, usize) {
    let plain = bytes.iter().filter(|byte| PLAIN[usize::from(**byte)]).count();
    let escaped = bytes.len().saturating_mul(3).saturating_sub(plain.saturating_mul(2));
    (ESCAPED.len().saturating_add(escaped), ENCODED.len().saturating_add(base64_length(bytes.len())))
}

/// The length of the shortest address that holds the bytes as they are.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let (escaped, encoded) = lengths(bytes);
    escaped.min(encoded)
}

/// Fewer than the shortest address takes, compressed or not.
pub(crate) fn least_packed_length(bytes: &[u8]) -> usize {
    if bytes.len() < SMALLEST_TO_COMPRESS { plain_length(bytes) } else { ENCODED.len() }
}

/// The shortest address that holds the bytes: escaped, in base64, or with some effort compressed and in base64.
pub(crate) fn shortest(bytes: &[u8], effort: &mut Effort) -> Source {
    let (escaped, encoded) = lengths(bytes);
    if let Some(packed) = effort.gzip(bytes) {
        let length =
            ENCODED.len().saturating_add(base64_length(packed.len())).saturating_add(COMPRESSION_KEY);
        if length < escaped.min(encoded) {
            return Source { url: format!("{ENCODED}{}", BASE64_STANDARD.encode(packed)), gzip: true };
        }
    }
    if encoded < escaped {
        return Source { url: format!("{ENCODED}{}", BASE64_STANDARD.encode(bytes)), gzip: false };
    }
    let mut url = String::with_capacity(escaped);
    url.push_str(ESCAPED);
    for byte in bytes {
        if PLAIN[usize::from(*byte)] {
            url.push(char::from(*byte));
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            url.push('%');
            for digit in [byte >> 4, byte & 15] {
                url.push(char::from(*DIGITS.get(usize::from(digit)).unwrap_or(&b'0')));
            }
        }
    }
    Source { url, gzip: false }
}

fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

/// Letters that stand for themselves. Fewer than RFC 3986 allows: `#`, `?` and `%` mean something to Go's parser.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    loop {
        plain[byte as usize] = is_plain(byte);
        if byte == u8::MAX {
            break plain;
        }
        byte += 1;
    }
};

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'&'..=b'/' | b':' | b';' | b'=' | b'@' | b'!' | b'$' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::{Effort, Form, shortest};

    #[test]
    fn the_shortest_form_is_taken() {
        let mut effort = Effort::of(Form::Gzip);
        let short = shortest(b"net.ipv4.ip_forward = 1\n", &mut effort);
        assert_eq!(short.url, "data:,net.ipv4.ip_forward%20=%201%0A");
        let binary = shortest(&[0, 1, 2, 255, 254, 253], &mut effort);
        assert_eq!(binary.url, "data:;base64,AAEC//79");
        let lines = b"the same line again and again\n".repeat(50);
        let long = shortest(&lines, &mut effort);
        assert!(long.gzip && long.url.len() < 200, "{}", long.url.len());
        assert_eq!(shortest(b"", &mut effort).url, "data:,");
        // 1,500 bytes are 2,000 letters of base64; escaped, six letters of each 30 would take three.
        let plain = shortest(&lines, &mut Effort::of(Form::Plain));
        assert_eq!((plain.gzip, plain.url.len()), (false, "data:;base64,".len() + 2000));
    }
}
