//! Data URLs: content inside an address, as Ignition reads it.

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// The bytes that a data URL holds; nothing if it is none.
pub fn decode(url: &str) -> Option<Vec<u8>> {
    let rest = url.strip_prefix("data:")?;
    let (head, data) = rest.split_once(',')?;
    let mut parameters = head.split(';');
    let media = parameters.next().unwrap_or_default();
    let mut parameters: Vec<&str> = parameters.collect();
    let encoded = parameters.pop_if(|last| *last == "base64").is_some();
    let well_formed = parameters.iter().all(|parameter| parameter.contains('='));
    if !well_formed
        || !(media.is_empty() || media.contains('/'))
        || !without_names(data).bytes().all(is_url_letter)
    {
        return None;
    }
    if encoded { BASE64_STANDARD.decode(data).ok() } else { unescape(data) }
}

/// The text without `${NAME}`, which stands for something harmless until a template is deployed.
fn without_names(data: &str) -> String {
    let mut pieces = data.split("${");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('}').filter(|(name, _)| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":.".contains(&byte))
        }) {
            Some((_, after)) => text.push_str(after),
            None => text.extend(["${", piece]),
        }
    }
    text
}

/// RFC 2396: what may stand in an address, and the `%` of escapes.
fn is_url_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,%".contains(&byte)
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let [high, low, after @ ..] = rest else { return None };
            let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            bytes.push(digit(high)? << 4 | digit(low)?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    /// What `ignition-validate` 2.14 takes and refuses.
    #[test]
    fn foreign_forms_are_read() {
        assert_eq!(decode("data:,hello%20world%0a"), Some(b"hello world\n".to_vec()));
        assert_eq!(decode("data:;base64,aGVsbG8gd29ybGQK"), Some(b"hello world\n".to_vec()));
        assert_eq!(decode("data:text/plain;charset=utf-8;base64,aGVsbG8="), Some(b"hello".to_vec()));
        assert_eq!(decode("data:text/plain,a,b"), Some(b"a,b".to_vec()));
        assert_eq!(decode("data:;charset=x,y"), Some(b"y".to_vec()));
        assert_eq!(decode("data:;base64,"), Some(Vec::new()));
        for refused in [
            "https://example.com/,x",
            "data:,%2",
            "data:;base64,aGk",
            "data:;base64,aGk%3D",
            "data:,a b",
            "data:,é",
            "data:,a#b",
            "data:x",
            "data:;base64;x=y,aGk=",
            "data:;foo,x",
            "Data:,x",
        ] {
            assert_eq!(decode(refused), None, "{refused}");
        }
    }
}
