//! Dates of YAML 1.1 as PyYAML makes them and Python prints them.

/// `str` of the date or time; nothing where there is no such day or hour, at which PyYAML fails.
pub(crate) fn printed_date(text: &str) -> Option<String> {
    let (day, time) = match text.find(['T', 't', ' ', '\t']) {
        Some(at) => (text.get(..at)?, text.get(at.saturating_add(1)..)?.trim_start()),
        None => (text, ""),
    };
    let mut fields = day.splitn(3, '-').map(|field| field.parse::<u32>().ok());
    let (year, month, day) = (fields.next()??, fields.next()??, fields.next()??);
    if year == 0 || !(1..=days_in(year, month)?).contains(&day) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if time.is_empty() {
        return Some(date);
    }
    let zone_at = time.find(['Z', 'z', '+', '-', ' ', '\t']).unwrap_or(time.len());
    let (clock, zone) = time.split_at_checked(zone_at)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut fields = clock.splitn(3, ':').map(|field| field.parse::<u32>().ok());
    let (hour, minute, second) = (fields.next()??, fields.next()??, fields.next()??);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let micros = if micros == "000000" { String::new() } else { format!(".{micros}") };
    Some(format!("{date} {hour:02}:{minute:02}:{second:02}{micros}{}", printed_zone(zone.trim())?))
}

fn printed_zone(zone: &str) -> Option<String> {
    if zone.is_empty() {
        return Some(String::new());
    }
    if zone.eq_ignore_ascii_case("z") {
        return Some("+00:00".to_owned());
    }
    let (sign, digits) = zone.split_at_checked(1)?;
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
    (hours < 24 && minutes < 60).then(|| format!("{sign}{hours:02}:{minutes:02}"))
}

fn days_in(year: u32, month: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if leap { 29 } else { 28 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::printed_date;

    /// Printed by `str(yaml.safe_load(...))` with PyYAML 6.0.3; nothing where that raises an error.
    #[test]
    fn dates_print_as_python_prints_them() {
        let cases = [
            ("2020-01-02", Some("2020-01-02")),
            ("2001-12-14t21:59:43.10-05:00", Some("2001-12-14 21:59:43.100000-05:00")),
            ("2001-12-14 21:59:43.10 -5", Some("2001-12-14 21:59:43.100000-05:00")),
            ("2001-12-15T02:59:43.0Z", Some("2001-12-15 02:59:43+00:00")),
            ("2001-12-15 2:59:43", Some("2001-12-15 02:59:43")),
            ("2020-02-30", None),
            ("2020-13-01", None),
            ("2020-02-29", Some("2020-02-29")),
            ("2001-12-15 25:00:00", None),
        ];
        for (text, expected) in cases {
            assert_eq!(printed_date(text).as_deref(), expected, "{text}");
        }
    }
}
