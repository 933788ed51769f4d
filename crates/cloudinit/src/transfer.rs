//! Base64 and quoted-printable as Python decodes them, which is what decides on a node.

/// Python's decoder would raise an error here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadBase64;

/// `base64.b64decode` without `validate`: letters outside the alphabet are skipped, the first complete padding ends
/// the data, and a last group that is not full is an error.
pub(crate) fn base64_lenient(encoded: &[u8]) -> Result<Vec<u8>, BadBase64> {
    let mut decoded = Vec::with_capacity(encoded.len() / 4 * 3);
    let (mut group, mut filled, mut pads) = (0_u32, 0_u8, 0_u8);
    for byte in encoded {
        if *byte == b'=' {
            pads = pads.saturating_add(1);
            if filled >= 2 && filled.saturating_add(pads) >= 4 {
                return Ok(decoded);
            }
            continue;
        }
        let Some(digit) = digit(*byte) else { continue };
        pads = 0;
        match filled {
            0 => group = u32::from(digit),
            1 => {
                decoded.push(low_byte((group << 2) | (u32::from(digit) >> 4)));
                group = u32::from(digit & 0x0f);
            }
            2 => {
                decoded.push(low_byte((group << 4) | (u32::from(digit) >> 2)));
                group = u32::from(digit & 0x03);
            }
            _ => decoded.push(low_byte((group << 6) | u32::from(digit))),
        }
        filled = (filled + 1) % 4;
    }
    if filled == 0 { Ok(decoded) } else { Err(BadBase64) }
}

fn low_byte(number: u32) -> u8 {
    number.to_be_bytes()[3]
}

/// What `email` does with a body that says base64: as lenient as it can be, and the text itself where nothing helps.
pub(crate) fn base64_of_mail(body: &[u8]) -> Vec<u8> {
    let mut encoded: Vec<u8> = body.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if let Ok(decoded) = base64_lenient(&encoded) {
        return decoded;
    }
    encoded.extend(b"==");
    base64_lenient(&encoded).unwrap_or_else(|BadBase64| {
        encoded.truncate(encoded.len().saturating_sub(2));
        encoded
    })
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Base64 in lines of 76 letters, LF after each.
pub(crate) fn base64_lines(bytes: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let encoded = STANDARD.encode(bytes);
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / 76 + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at_checked(76).unwrap_or((rest, ""));
        lines.push_str(line);
        lines.push('\n');
        rest = after;
    }
    lines
}

/// `quopri.decodestring`.
pub(crate) fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'=' {
            decoded.push(*byte);
            rest = after;
            continue;
        }
        rest = match after {
            [] => after,
            [b'\n', next @ ..] => next,
            [b'\r', next @ ..] => {
                let line_end = next.iter().position(|byte| *byte == b'\n');
                line_end.and_then(|end| next.get(end.saturating_add(1)..)).unwrap_or_default()
            }
            [b'=', next @ ..] => {
                decoded.push(b'=');
                next
            }
            [high, low, next @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                decoded.push(hex(*high) << 4 | hex(*low));
                next
            }
            next => {
                decoded.push(b'=');
                next
            }
        };
    }
    decoded
}

fn hex(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => byte.wrapping_sub(b'A').wrapping_add(10),
    }
}

#[cfg(test)]
mod tests {
    use super::{BadBase64, base64_lenient, base64_lines, base64_of_mail, quoted_printable};

    /// The right column was printed by Python 3.11's `base64.b64decode`.
    #[test]
    fn base64_is_as_lenient_as_pythons() {
        type Case = (&'static [u8], Result<&'static [u8], BadBase64>);
        let cases: [Case; 11] = [
            (b"aGVsbG8=", Ok(b"hello")),
            (b"aGVs\nbG8=", Ok(b"hello")),
            (b"aGVs*bG8=", Ok(b"hello")),
            (b"aGVsbG8", Err(BadBase64)),
            (b"aGVsb", Err(BadBase64)),
            (b"aGVsbG8=aGVsbG8=", Ok(b"hello")),
            (b"aA==aA==", Ok(b"h")),
            (b"=aGVs", Ok(b"hel")),
            (b"", Ok(b"")),
            (b"aG=VsbG8=", Ok(b"hello")),
            (b"aA=", Err(BadBase64)),
        ];
        for (encoded, decoded) in cases {
            assert_eq!(
                base64_lenient(encoded),
                decoded.map(<[u8]>::to_vec),
                "{}",
                String::from_utf8_lossy(encoded)
            );
        }
    }

    /// Printed by Python 3.11's `email._encoded_words.decode_b`.
    #[test]
    fn a_mail_body_forgives_missing_padding() {
        assert_eq!(base64_of_mail(b"aGVsbG8"), b"hello");
        assert_eq!(base64_of_mail(b"aGVs\r\nbG8=\r\n"), b"hello");
        assert_eq!(base64_of_mail(b"aGVsb"), b"aGVsb");
    }

    /// Printed by Python 3.11's `quopri.decodestring`.
    #[test]
    fn quoted_printable_is_as_lenient_as_pythons() {
        let cases: [(&[u8], &[u8]); 7] = [
            (b"a=3Db=\nc", b"a=bc"),
            (b"a=\r\nb", b"ab"),
            (b"a==b", b"a=b"),
            (b"a=zzb", b"a=zzb"),
            (b"a=", b"a"),
            (b"=c3=A9", b"\xc3\xa9"),
            (b"a=4", b"a=4"),
        ];
        for (encoded, decoded) in cases {
            assert_eq!(quoted_printable(encoded), decoded, "{}", String::from_utf8_lossy(encoded));
        }
    }

    #[test]
    fn lines_are_wrapped_at_76() {
        let lines = base64_lines(&[0; 100]);
        assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [76, 60]);
        assert!(lines.ends_with('\n'));
        assert_eq!(base64_lines(b""), "");
    }
}
