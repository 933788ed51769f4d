//! The manual is tested: every `console` block in docs/*.md is run and compared.

#[test]
fn the_manual_says_what_the_program_does() {
    trycmd::TestCases::new().case("../../docs/*.md").env("NO_COLOR", "1").default_bin_name("bringup").run();
}
