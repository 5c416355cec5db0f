//! Quantities of resources: how the server writes one that was given in another way (`0.5` as `500m`,
//! `1000m` as `1`), and what they amount to.

use std::cmp::Ordering;

/// Suffixes and the power of ten or of two that each stands for.
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [(&str, i32); 6] =
    [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// The smallest part that is kept; what is less is rounded up to it.
const NANO: i32 = -9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Decimal,
    Exponent,
    Binary,
}

/// What a quantity amounts to.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    form: Form,
}

impl Quantity {
    /// Nothing of it.
    pub const ZERO: Self = Self { nanos: 0, form: Form::Decimal };

    /// Of a text; `None` for what is no quantity, or too large to be counted.
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.trim_start_matches(['+', '-']);
        let end =
            unsigned.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let (form, exponent) = read_suffix(suffix)?;
        let mut amount: i128 = format!("{whole}{fraction}").parse().ok()?;
        let mut scale = -i32::try_from(fraction.len()).ok()?;
        match form {
            Form::Binary => {
                amount = amount.checked_mul(1_i128.checked_shl(exponent.unsigned_abs())?)?;
            }
            Form::Decimal | Form::Exponent => scale += exponent,
        }
        while scale < NANO {
            amount = amount / 10 + i128::from(amount % 10 != 0);
            scale += 1;
        }
        let nanos = amount.checked_mul(10_i128.checked_pow((scale - NANO).unsigned_abs())?)?;
        Some(Self { nanos: if text.starts_with('-') { -nanos } else { nanos }, form })
    }

    /// Whether it is less than nothing.
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// Whether there is no part of one.
    pub fn is_whole(self) -> bool {
        self.nanos % 1_000_000_000 == 0
    }

    /// Both together, written as the first of them that is something.
    pub fn plus(self, other: Self) -> Self {
        let form = if self.nanos == 0 { other.form } else { self.form };
        Self { nanos: self.nanos.saturating_add(other.nanos), form }
    }

    /// As the server writes it.
    pub fn text(self) -> String {
        written(self.nanos, NANO, self.form).unwrap_or_default()
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.nanos.partial_cmp(&other.nanos)
    }
}

/// The text of a quantity as it is stored; `None` for none, and for more digits than fit 128 bits.
pub(super) fn canonical(text: &str) -> Option<String> {
    let negative = text.starts_with('-');
    let unsigned = text.trim_start_matches(['+', '-']);
    let end = unsigned.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (form, exponent) = read_suffix(suffix)?;
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let digits = format!("{whole}{fraction}");
    let mut amount: i128 = digits.parse().ok()?;
    let mut scale = -i32::try_from(fraction.len()).ok()?;
    match form {
        Form::Binary => {
            // Written as it would be stored: no look at what it amounts to.
            if fraction.is_empty() && amount & 7 != 0 && amount < 1 << 40 {
                return Some(text.to_owned());
            }
            amount = amount.checked_mul(1_i128.checked_shl(exponent.unsigned_abs())?)?;
        }
        Form::Decimal | Form::Exponent => {
            scale += exponent;
            if scale % 3 == 0
                && scale >= NANO
                && digits.len() <= 18
                && !digits.ends_with("000")
                && !digits.starts_with('0')
            {
                return Some(text.to_owned());
            }
        }
    }
    while scale < NANO {
        amount = amount / 10 + i128::from(amount % 10 != 0);
        scale += 1;
    }
    written(if negative { -amount } else { amount }, scale, form)
}

/// An amount in its shortest form.
fn written(amount: i128, mut scale: i32, form: Form) -> Option<String> {
    if amount == 0 {
        return Some("0".to_owned());
    }
    let sign = if amount < 0 { "-" } else { "" };
    let mut amount = amount.checked_abs()?;
    while amount % 10 == 0 {
        amount /= 10;
        scale += 1;
    }
    if form == Form::Binary && scale >= 0 {
        let mut count = amount.checked_mul(10_i128.checked_pow(scale.unsigned_abs())?)?;
        if count >= 1024 {
            let mut power = 0;
            while count % 1024 == 0 && power < 60 {
                count /= 1024;
                power += 10;
            }
            let suffix = BINARY.iter().find(|(_, of)| *of == power).map_or("", |(name, _)| name);
            return Some(format!("{sign}{count}{suffix}"));
        }
    }
    while scale % 3 != 0 {
        amount = amount.checked_mul(10)?;
        scale -= 1;
    }
    let suffix = match form {
        Form::Exponent if scale == 0 => String::new(),
        Form::Exponent => format!("e{scale}"),
        _ => DECIMAL.iter().find(|(_, of)| *of == scale)?.0.to_owned(),
    };
    Some(format!("{sign}{amount}{suffix}"))
}

fn read_suffix(suffix: &str) -> Option<(Form, i32)> {
    let of = |table: &[(&str, i32)]| {
        table.iter().find(|(name, _)| *name == suffix).map(|(_, power)| *power)
    };
    if let Some(power) = of(&DECIMAL) {
        return Some((Form::Decimal, power));
    }
    if let Some(power) = of(&BINARY) {
        return Some((Form::Binary, power));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    exponent.parse().ok().map(|exponent| (Form::Exponent, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_stored_in_the_servers_form() {
        fn check(given: &str, stored: &str) {
            assert_eq!(canonical(given).as_deref(), Some(stored), "{given}");
        }
        check("0.5", "500m");
        check("0.500", "500m");
        check("1000m", "1");
        check("1500m", "1500m");
        check("1.5", "1500m");
        check("1.500", "1.500");
        check("1000", "1k");
        check("1024", "1024");
        check("100000k", "100M");
        check("12e6", "12e6");
        check("100e1", "1e3");
        check("1.5Gi", "1536Mi");
        check("1024Mi", "1Gi");
        check("1025Mi", "1025Mi");
        check("0.5Ki", "512");
        check("0Gi", "0");
        check("00", "0");
        check("-0.25", "-250m");
        check("0.0000000001", "1n");
        check("5", "5");
    }

    #[test]
    fn quantities_are_compared_and_added_by_what_they_amount_to() {
        fn check(a: &str, b: &str, order: Ordering, sum: &str) {
            let of = |text| Quantity::parse(text).expect("a quantity");
            assert_eq!(of(a).partial_cmp(&of(b)), Some(order), "{a} {b}");
            assert_eq!(of(a).plus(of(b)).text(), sum, "{a} {b}");
        }
        check("500m", "0.5", Ordering::Equal, "1");
        check("1", "100m", Ordering::Greater, "1100m");
        check("1Gi", "512Mi", Ordering::Greater, "1536Mi");
        check("1Ki", "1000", Ordering::Greater, "2024");
        check("0", "64Mi", Ordering::Less, "64Mi");
        check("1e3", "2k", Ordering::Less, "3e3");
        assert!(Quantity::parse("x").is_none());
        assert!(Quantity::parse("-1").is_some_and(Quantity::is_negative));
    }
}
