//! Unpacking gzip within a bound.

use std::io::Read as _;

use flate2::bufread::GzDecoder;

/// The most that any one layer may unpack to. EC2 takes 16 KiB of user-data, the most generous platforms 64 KiB to
/// 1 MiB; what unpacks to more than this is a bomb or a mistake.
pub const UNPACKED_LIMIT: usize = 16 << 20;

/// Why nothing was unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GunzipFault {
    /// Not gzip, cut short, or its checksum differs.
    Corrupt,
    /// It would unpack to more than [`UNPACKED_LIMIT`].
    TooLarge,
}

/// Whether the bytes start like gzip.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// All members of a gzip stream, unpacked.
pub fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, GunzipFault> {
    if !is_gzip(bytes) {
        return Err(GunzipFault::Corrupt);
    }
    let bound = u64::try_from(UNPACKED_LIMIT).unwrap_or(u64::MAX).saturating_add(1);
    let mut unpacked = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut decoder = GzDecoder::new(rest);
        let left = bound.saturating_sub(u64::try_from(unpacked.len()).unwrap_or(u64::MAX));
        decoder.by_ref().take(left).read_to_end(&mut unpacked).map_err(|_| GunzipFault::Corrupt)?;
        if unpacked.len() > UNPACKED_LIMIT {
            return Err(GunzipFault::TooLarge);
        }
        rest = decoder.into_inner();
        // Python's gzip module forgives zeros after a member, as tapes and block devices leave them.
        while let [0, after @ ..] = rest {
            rest = after;
        }
    }
    Ok(unpacked)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::{GunzipFault, UNPACKED_LIMIT, gunzip};

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_are_joined_and_zeros_after_them_forgiven() {
        let mut stream = gzip(b"one ");
        stream.extend(gzip(b"two"));
        assert_eq!(gunzip(&stream).unwrap(), b"one two");
        stream.extend([0; 512]);
        assert_eq!(gunzip(&stream).unwrap(), b"one two");
    }

    #[test]
    fn a_bomb_is_refused_and_garbage_too() {
        let bomb = gzip(&vec![0; UNPACKED_LIMIT + 1]);
        assert!(bomb.len() < 64 << 10, "{} bytes make a bomb", bomb.len());
        assert_eq!(gunzip(&bomb), Err(GunzipFault::TooLarge));
        assert_eq!(gunzip(b"\x1f\x8bnot really"), Err(GunzipFault::Corrupt));
        let whole = gzip(b"cut short");
        assert_eq!(gunzip(&whole[..whole.len() - 5]), Err(GunzipFault::Corrupt));
    }
}
