//! Whether a text is a unit file: by the rules of the parser that Ignition takes units with (go-systemd's), and by
//! systemd's own, which forgives more and says so only in the journal.

/// go-systemd reads in stretches of so many bytes.
const BUFFER: usize = 4096;
/// And refuses a line of so many: systemd used to cut it.
const LONGEST_LINE: usize = 2048;

/// What is wrong with the text of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitFault {
    /// `[` without its `]`.
    UnclosedSection,
    /// Something behind the `]` of a section.
    AfterSection,
    /// A line of a section that has no `=`.
    NoAssignment,
    /// A line that goes on behind a remark: systemd leaves the remark out, Ignition takes it for the end of the line.
    RemarkInside,
    /// A line that is too long for Ignition; systemd takes it.
    LineTooLong,
    /// A setting above the first section, which systemd ignores.
    OutsideSection,
}

impl UnitFault {
    /// Whether Ignition refuses a config with such a unit.
    pub fn is_refused_by_ignition(self) -> bool {
        self != Self::OutsideSection
    }

    /// What is wrong, and what to do about it.
    pub fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::UnclosedSection => (
                "the name of a section has no end: systemd refuses the unit, and Ignition the whole config",
                "write the section as `[Service]`, on a line of its own",
            ),
            Self::AfterSection => (
                "there is something behind the name of a section: systemd refuses the unit, and Ignition the whole config",
                "put it on a line of its own",
            ),
            Self::NoAssignment => (
                "this line is no setting: systemd ignores it, and Ignition refuses the whole config",
                "write `Key=value`, or `#` in front of a remark",
            ),
            Self::RemarkInside => (
                "a remark between the lines of one setting: systemd leaves it out, Ignition refuses the whole config",
                "put the remark above the setting",
            ),
            Self::LineTooLong => (
                "a line of more than 2,048 bytes: Ignition refuses the whole config",
                "put what is long into a file, and name that",
            ),
            Self::OutsideSection => (
                "this setting stands above every section: systemd ignores it",
                "write the section that it belongs to in front of it, such as `[Service]`",
            ),
        }
    }
}

/// What is wrong, with the numbers of the lines: what stops Ignition first, and every setting outside a section.
pub fn unit_faults(text: &str) -> Vec<(u32, UnitFault)> {
    let mut faults = Vec::new();
    let mut continued = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim();
        if line.starts_with('[') && !continued {
            break;
        }
        let remark = line.starts_with(['#', ';']);
        if !remark && !continued && line.contains('=') {
            faults.push((number, UnitFault::OutsideSection));
        }
        continued = !remark && line.ends_with('\\');
    }
    faults.extend(Lexer::new(text).fault().map(|(number, fault)| match fault {
        UnitFault::NoAssignment if follows_remark_inside(text, number) => (number, UnitFault::RemarkInside),
        fault => (number, fault),
    }));
    faults
}

/// Whether the line of this number belongs to a setting above it, with remarks between.
fn follows_remark_inside(text: &str, number: u32) -> bool {
    let before = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let above: Vec<&str> = text.lines().take(before).map(str::trim).collect();
    let remarks = above.iter().rev().take_while(|line| line.starts_with(['#', ';'])).count();
    remarks > 0 && above.iter().rev().nth(remarks).is_some_and(|line| line.ends_with('\\'))
}

/// Steps of go-systemd's reader; it looks at the length of the line in front of it before each.
#[derive(Clone, Copy)]
enum Next {
    Section,
    SectionName,
    SectionEnd,
    SectionOrOption,
    OptionName,
    OptionValue,
    /// A remark; then what was before it.
    Remark {
        in_section: bool,
    },
}

/// The text as Go's buffered reader hands it out.
struct Lexer<'text> {
    text: &'text [u8],
    /// Where the next byte to read stands.
    at: usize,
    /// How much behind that is in the buffer.
    buffered: usize,
}

impl<'text> Lexer<'text> {
    fn new(text: &'text str) -> Self {
        Self { text: text.as_bytes(), at: 0, buffered: 0 }
    }

    fn rest(&self) -> &'text [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(mut self) -> Option<(u32, UnitFault)> {
        let mut next = Next::Section;
        loop {
            let ahead = self.rest().get(..LONGEST_LINE.min(self.buffered)).unwrap_or_default();
            if ahead.len() == LONGEST_LINE && !ahead.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
                return Some(self.told(UnitFault::LineTooLong));
            }
            next = match self.step(next) {
                Ok(Some(next)) => next,
                Ok(None) => return None,
                Err(fault) => return Some(fault),
            };
        }
    }

    fn told(&self, fault: UnitFault) -> (u32, UnitFault) {
        let before = self.text.get(..self.at).unwrap_or_default();
        let lines = before.split(|byte| *byte == b'\n').count();
        (u32::try_from(lines).unwrap_or(u32::MAX), fault)
    }

    fn step(&mut self, next: Next) -> Result<Option<Next>, (u32, UnitFault)> {
        Ok(Some(match next {
            Next::Section => match self.letter() {
                None => return Ok(None),
                Some('[') => Next::SectionName,
                Some('#' | ';') => Next::Remark { in_section: false },
                Some(_) => Next::Section,
            },
            Next::SectionName => {
                let start = self.told(UnitFault::UnclosedSection);
                if !self.until(b']').1 {
                    return Err(start);
                }
                Next::SectionEnd
            }
            Next::SectionEnd => {
                let start = self.told(UnitFault::AfterSection);
                if !self.until(b'\n').0.trim_ascii().is_empty() {
                    return Err(start);
                }
                Next::SectionOrOption
            }
            Next::SectionOrOption => match self.peeked() {
                None => return Ok(None),
                Some('[') => {
                    self.letter();
                    Next::SectionName
                }
                Some('#' | ';') => {
                    self.letter();
                    Next::Remark { in_section: true }
                }
                Some(letter) if letter.is_whitespace() => {
                    self.letter();
                    Next::SectionOrOption
                }
                Some(_) => Next::OptionName,
            },
            Next::OptionName => {
                let start = self.told(UnitFault::NoAssignment);
                loop {
                    match self.letter() {
                        None | Some('\n' | '\r') => return Err(start),
                        Some('=') => break Next::OptionValue,
                        Some(_) => {}
                    }
                }
            }
            Next::OptionValue => {
                let line = self.line();
                if line.ends_with(b"\\") { Next::OptionValue } else { Next::SectionOrOption }
            }
            Next::Remark { in_section } => {
                loop {
                    let line = self.line();
                    if !line.strip_suffix(b" ").unwrap_or(line).ends_with(b"\\") {
                        break;
                    }
                }
                if in_section { Next::SectionOrOption } else { Next::Section }
            }
        }))
    }

    fn fill(&mut self) -> bool {
        let more = self.rest().len().min(BUFFER).saturating_sub(self.buffered);
        self.buffered = self.buffered.saturating_add(more);
        more > 0
    }

    fn consume(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
        self.buffered = self.buffered.saturating_sub(bytes);
    }

    fn peeked(&mut self) -> Option<char> {
        if self.buffered == 0 {
            self.fill();
        }
        let head = self.rest();
        let head = head.get(..head.len().min(4)).unwrap_or_default();
        let letter = match std::str::from_utf8(head) {
            Ok(text) => text.chars().next(),
            Err(fault) => {
                let whole = head.get(..fault.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(whole).ok().and_then(|text| text.chars().next())
            }
        }?;
        if letter.len_utf8() > self.buffered {
            self.fill();
        }
        Some(letter)
    }

    fn letter(&mut self) -> Option<char> {
        let letter = self.peeked()?;
        self.consume(letter.len_utf8());
        Some(letter)
    }

    /// Reads up to and with the byte; whether it was there.
    fn until(&mut self, byte: u8) -> (&'text [u8], bool) {
        let text = self.rest();
        let mut read: usize = 0;
        loop {
            let ahead = self.rest().get(..self.buffered).unwrap_or_default();
            if let Some(at) = ahead.iter().position(|found| *found == byte) {
                let length = at.saturating_add(1);
                self.consume(length);
                return (text.get(..read.saturating_add(at)).unwrap_or_default(), true);
            }
            if self.buffered >= BUFFER {
                read = read.saturating_add(self.buffered);
                self.consume(self.buffered);
            } else if !self.fill() {
                self.consume(self.buffered);
                return (text, false);
            }
        }
    }

    fn line(&mut self) -> &'text [u8] {
        let (line, _) = self.until(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::UnitFault::{
        AfterSection, LineTooLong, NoAssignment, OutsideSection, RemarkInside, UnclosedSection,
    };
    use super::unit_faults;

    /// Each text was a unit in a config that `ignition-validate` 2.14 looked at; it named the fault, or none. The line, and
    /// what stands outside of sections, are worked out by hand.
    #[test]
    fn what_ignition_refuses_is_a_fault() {
        let cases = [
            ("", None),
            ("[Unit]\n", None),
            ("[Service\nExecStart=/x\n", Some((1, UnclosedSection))),
            ("[Service] x\n", Some((1, AfterSection))),
            ("[Service]  \nA=b", None),
            ("[Service]\nA\n", Some((2, NoAssignment))),
            ("[Service]\nA", Some((2, NoAssignment))),
            ("A=b\n[Service]\nB=c\n", Some((1, OutsideSection))),
            ("\nA=b\n", Some((2, OutsideSection))),
            ("# [x\n[Unit]\n", None),
            ("[Unit]\n# a \\\nstill a remark\nA=b\n", None),
            ("[Unit]\nA=b \\\nc\n", None),
            ("[Unit]\nA=b \\", None),
            ("[A\nB]\nC=d\n", None),
            ("[Unit]\r\nA=b\r\nB\r\n", Some((3, NoAssignment))),
            ("[Unit]\n=x\n", None),
            ("[]\nA=b\n", None),
            ("x [Unit]\nA=b\n", Some((2, OutsideSection))),
            ("[Unit]\n  A = b\n", None),
            ("[Unit]\n; r\n\n[Install]\nW=x\n[", Some((6, UnclosedSection))),
            ("[Unit]\nA=b\\\n\nB\n", Some((4, NoAssignment))),
            ("[Unit]\n\u{a0}\nA=b\n", None),
            ("[Unit] # r\nA=b\n", Some((1, AfterSection))),
            ("[Unit]\nA=b \\\n# r\n c\n", Some((4, RemarkInside))),
        ];
        for (text, expected) in cases {
            assert_eq!(unit_faults(text).first().copied(), expected, "{text:?}");
        }
    }

    /// As above: how much is in the reader's buffer decides.
    #[test]
    fn a_line_is_too_long_where_ignition_says_so() {
        let with = |lines: usize, last: &str| format!("[Unit]\n{}{last}\n", "A=b\n".repeat(lines));
        let cases = [
            (with(0, &format!("A={}", "x".repeat(3000))), true),
            (with(0, &format!("A={}", "x".repeat(2040))), false),
            (with(0, &format!("A={}", "x".repeat(2048))), true),
            (with(2000, &format!("C={}", "x".repeat(3000))), false),
            (with(0, &format!("#{}", "x".repeat(3000))), true),
            (with(0, &format!("A={}", "é".repeat(1500))), true),
            (with(1020, &format!("C={}", "y".repeat(2500))), false),
            (with(700, &format!("C={}", "y".repeat(2500))), false),
        ];
        for (text, refused) in cases {
            let found = unit_faults(&text).first().is_some_and(|(_, fault)| *fault == LineTooLong);
            assert_eq!(found, refused, "{} bytes", text.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "([\\[\\]=#;\\\\\r\n a-cé]|\\PC){0,200}") {
            let _ = unit_faults(&text);
        }
    }
}
