//! Whether a program needs nothing of the machine that it runs on.

use anyhow::{Context as _, Result, bail, ensure};

/// Kinds of entries of the program's table: names of libraries, and who loads them. See `elf(5)`.
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;
/// An entry of the dynamic table that names a library, and the one that ends it.
const NEEDED: u64 = 1;
const END: u64 = 0;

/// Whether it is a program for 64 bits, little end first, that no loader and no library has to be there for.
pub(crate) fn is_static(program: &[u8]) -> Result<()> {
    ensure!(program.starts_with(b"\x7fELF\x02\x01"), "it is no program for 64 bits");
    let table = number::<8>(program, 0x20)?;
    let (size, count) = (number::<2>(program, 0x36)?, number::<2>(program, 0x38)?);
    for index in 0..count {
        let entry = usize::try_from(table + index * size)?;
        match u32::try_from(number::<4>(program, entry)?)? {
            INTERPRETER => bail!("it is loaded by another program"),
            DYNAMIC => {
                no_libraries(program, number::<8>(program, entry + 8)?, number::<8>(program, entry + 32)?)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn no_libraries(program: &[u8], begin: u64, length: u64) -> Result<()> {
    for at in (begin..begin.saturating_add(length)).step_by(16) {
        match number::<8>(program, usize::try_from(at)?)? {
            NEEDED => bail!("it needs a library of the machine"),
            END => break,
            _ => {}
        }
    }
    Ok(())
}

/// The number of so many bytes at a place.
fn number<const BYTES: usize>(program: &[u8], at: usize) -> Result<u64> {
    let bytes = at.checked_add(BYTES).and_then(|end| program.get(at..end)).context("it is cut short")?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of one table entry of this kind, with this dynamic table behind it.
    fn program(kind: u32, dynamic: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[0x20] = 64;
        bytes[0x36] = 56;
        bytes[0x38] = 1;
        bytes[64..68].copy_from_slice(&kind.to_le_bytes());
        bytes[72] = 120;
        bytes[96] = u8::try_from(dynamic.len() * 8).unwrap();
        bytes.extend(dynamic.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    #[test]
    fn a_program_that_loads_itself_is_static() {
        assert!(is_static(&program(1, &[])).is_ok());
        // An address to be moved, as programs have that run anywhere in memory; then the end.
        assert!(is_static(&program(DYNAMIC, &[7, 0x1000, 0, 0])).is_ok());
    }

    #[test]
    fn a_loader_or_a_library_is_told() {
        let told = |program: &[u8]| is_static(program).unwrap_err().to_string();
        assert_eq!(told(&program(INTERPRETER, &[])), "it is loaded by another program");
        assert_eq!(
            told(&program(DYNAMIC, &[7, 0x1000, NEEDED, 1, 0, 0])),
            "it needs a library of the machine"
        );
        assert_eq!(told(b"#!/bin/sh\n"), "it is no program for 64 bits");
        assert_eq!(told(&program(1, &[])[..66]), "it is cut short");
    }

    #[test]
    fn this_very_test_is_loaded() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_static(&own).is_err());
    }
}
