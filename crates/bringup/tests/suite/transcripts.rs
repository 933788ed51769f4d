//! The manual is tested: every `console` block in docs/*.md is run and compared. `UPDATE_GOLDEN=1` rewrites them.

use std::process::Command;

const NAME: &str = "transcripts::the_manual_says_what_the_program_does";

#[test]
fn the_manual_says_what_the_program_does() {
    if crate::program::updating() {
        // trycmd listens to a variable of its own, which only a new process can be given.
        let this = std::env::current_exe().expect("this program");
        let again = Command::new(this)
            .args(["--exact", NAME])
            .env_remove("UPDATE_GOLDEN")
            .env("TRYCMD", "overwrite")
            .status()
            .expect("it starts");
        assert!(again.success());
        return;
    }
    trycmd::TestCases::new().case("../../docs/*.md").env("NO_COLOR", "1").default_bin_name("bringup").run();
}
