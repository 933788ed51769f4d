//! The unit in which the agent runs a step's program.

use std::fmt::Write as _;

/// Its name: the step's, with what systemd does not take in names of units written as it escapes it.
pub fn step_unit(step: &str) -> String {
    let mut name = String::from("bringup-step-");
    for byte in step.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "\\x{byte:02x}");
            }
        }
    }
    name.push_str(".service");
    name
}

#[cfg(test)]
mod tests {
    use super::step_unit;

    #[test]
    fn every_step_has_a_unit_that_systemd_takes() {
        assert_eq!(step_unit("hook a/b"), "bringup-step-hook\\x20a\\x2fb.service");
        assert_eq!(step_unit("driver-1.2"), "bringup-step-driver-1.2.service");
    }
}
