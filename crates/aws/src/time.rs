//! Seconds since 1970 as AWS writes them.

/// A moment in UTC, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

const DAY: u64 = 86_400;

/// The last second that has a year of four digits.
const LAST: u64 = 253_402_300_799;

/// From the first of March of the year 0 to the first of January 1970. Years that begin in March have their leap day
/// at the end, which keeps the arithmetic free of cases.
const DAYS_BEFORE_1970: u64 = 719_468;

/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_ERA: u64 = 146_097;

struct Calendar {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Moment {
    /// From seconds since 1970. A clock beyond the year 9999 stands at its end.
    pub const fn from_unix(seconds: u64) -> Self {
        Self(if seconds > LAST { LAST } else { seconds })
    }

    /// Seconds since 1970.
    pub const fn unix(self) -> u64 {
        self.0
    }

    /// This many seconds later.
    #[must_use]
    pub const fn plus(self, seconds: u64) -> Self {
        Self::from_unix(self.0.saturating_add(seconds))
    }

    /// The day as signatures name it: `20150830`.
    pub fn date(self) -> String {
        let Calendar { year, month, day, .. } = self.calendar();
        format!("{year:04}{month:02}{day:02}")
    }

    /// The moment as signatures name it: `20150830T123600Z`.
    pub fn stamp(self) -> String {
        let Calendar { hour, minute, second, .. } = self.calendar();
        format!("{}T{hour:02}{minute:02}{second:02}Z", self.date())
    }

    /// The moment as JSON has it: `2015-08-30T12:36:00Z`.
    pub fn rfc3339(self) -> String {
        let Calendar { year, month, day, hour, minute, second } = self.calendar();
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// Reads `2015-08-30T12:36:00Z`, with or without a fraction of a second, which is dropped.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let text = text.strip_suffix('Z')?;
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        if whole.len() != 19 || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = |from: usize, to: usize| whole.get(from..to)?.parse::<u64>().ok();
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if year < 1970 || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        let (year_of_march, month_of_march) =
            if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let day_of_year = (153 * month_of_march + 2) / 5 + day - 1;
        let year_of_era = year_of_march % 400;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (year_of_march / 400 * DAYS_OF_ERA + day_of_era).checked_sub(DAYS_BEFORE_1970)?;
        let moment = Self::from_unix(days * DAY + hour * 3600 + minute * 60 + second);
        // A day or an hour that does not exist comes back as another one, and wrong punctuation as the right one.
        moment.rfc3339().strip_suffix('Z').is_some_and(|again| again == whole).then_some(moment)
    }

    fn calendar(self) -> Calendar {
        let days = self.0 / DAY + DAYS_BEFORE_1970;
        let day_of_era = days % DAYS_OF_ERA;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / (DAYS_OF_ERA - 1)) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_of_march = (5 * day_of_year + 2) / 153;
        let month = if month_of_march < 10 { month_of_march + 3 } else { month_of_march - 9 };
        Calendar {
            year: days / DAYS_OF_ERA * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_of_march + 2) / 5 + 1,
            hour: self.0 % DAY / 3600,
            minute: self.0 % 3600 / 60,
            second: self.0 % 60,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Second column: `date -u -d @N +%Y%m%dT%H%M%SZ` of GNU coreutils.
    #[test]
    fn moments_are_written_as_date_writes_them() {
        for (seconds, stamp) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (1_440_938_160, "20150830T123600Z"),
            (1_709_164_800, "20240229T000000Z"),
            (1_772_600_767, "20260304T050607Z"),
            (4_107_542_399, "21000228T235959Z"),
            (4_107_542_400, "21000301T000000Z"),
            (LAST, "99991231T235959Z"),
        ] {
            assert_eq!(Moment::from_unix(seconds).stamp(), stamp);
        }
        assert_eq!(Moment::from_unix(u64::MAX).stamp(), "99991231T235959Z");
        assert_eq!(Moment::from_unix(1_440_938_160).rfc3339(), "2015-08-30T12:36:00Z");
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "Z",
            "2015-08-30T12:36:00",
            "2015-02-29T00:00:00Z",
            "2015-13-01T00:00:00Z",
            "2015-00-01T00:00:00Z",
            "2015-01-00T00:00:00Z",
            "2015-01-01T24:00:00Z",
            "2015-01-01 00:00:00Z",
            "2015-01-01T00:00:00+02:00",
            "2015-01-01T00:00:00.Z",
            "1969-12-31T23:59:59Z",
            "+015-01-01T00:00:00Z",
        ] {
            assert_eq!(Moment::parse_rfc3339(text), None, "{text}");
        }
        assert_eq!(Moment::parse_rfc3339("2015-08-30T12:36:00.999Z"), Some(Moment::from_unix(1_440_938_160)));
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(seconds in 0..=LAST) {
            let moment = Moment::from_unix(seconds);
            prop_assert_eq!(Moment::parse_rfc3339(&moment.rfc3339()), Some(moment));
        }

        #[test]
        fn any_text_is_a_moment_or_not(text in ".{0,32}") {
            let _ = Moment::parse_rfc3339(&text);
        }
    }
}
