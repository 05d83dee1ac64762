//! Decimals as text, of any number of digits, ordered by value.

use std::cmp::Ordering;

/// A decimal: its sign, its digits without leading zeros, and how many of them are behind the point.
#[derive(Clone, Debug)]
pub struct Decimal {
    negative: bool,
    digits: String,
    scale: usize,
}

impl Decimal {
    /// The decimal `unscaled * 10^-scale`; `unscaled` is a whole number in decimal digits, such as `-150`.
    pub fn from_unscaled(unscaled: &str, scale: i32) -> Self {
        let (negative, digits) = match unscaled.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, unscaled),
        };
        let digits = digits.trim_start_matches('0');
        let zeros = "0".repeat(scale.min(0).unsigned_abs() as usize);
        Decimal {
            negative: negative && !digits.is_empty(),
            digits: if digits.is_empty() { String::new() } else { format!("{digits}{zeros}") },
            scale: scale.max(0) as usize,
        }
    }

    /// The decimal that a text such as `-1.50` says, if it says one.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || !all_digits(digits) || !all_digits(fraction) {
            return None;
        }
        Some(Self::from_unscaled(&format!("{whole}{fraction}"), fraction.len() as i32))
    }

    /// The digits of `self * 10^(scale - self.scale)`, without a sign.
    fn digits_at(&self, scale: usize) -> String {
        if self.digits.is_empty() {
            return String::new();
        }
        format!("{}{}", self.digits, "0".repeat(scale - self.scale))
    }

    /// The unscaled whole number at another scale, as text, if no digit but zeros is lost.
    pub fn unscaled(&self, scale: usize) -> Option<String> {
        let sign = if self.negative { "-" } else { "" };
        if scale >= self.scale {
            let digits = self.digits_at(scale);
            return Some(if digits.is_empty() { "0".into() } else { format!("{sign}{digits}") });
        }
        let padded = format!("{:0>width$}", self.digits, width = self.scale - scale + 1);
        let (kept, lost) = padded.split_at(padded.len() - (self.scale - scale));
        lost.bytes().all(|byte| byte == b'0').then(|| format!("{sign}{kept}"))
    }
}

impl std::fmt::Display for Decimal {
    /// With as many digits behind the point as the scale: `1.50`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let padded = format!("{:0>width$}", self.digits, width = self.scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - self.scale);
        let (sign, point) = (if self.negative { "-" } else { "" }, if fraction.is_empty() { "" } else { "." });
        write!(out, "{sign}{whole}{point}{fraction}")
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.digits_at(scale), other.digits_at(scale));
        let sizes = (left.len(), &left).cmp(&(right.len(), &right));
        match (self.negative, other.negative) {
            (false, false) => sizes,
            (true, true) => sizes.reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn text_keeps_the_scale() {
        for text in ["0", "-1.50", "0.05", "123456789012345678901234567890.1"] {
            assert_eq!(text, Decimal::parse(text).unwrap().to_string());
        }
        assert!(Decimal::parse("1,5").is_none() && Decimal::parse(".5").is_none() && Decimal::parse("").is_none());
    }

    #[test]
    fn order_is_by_value() {
        let ordered = ["-10", "-9.99", "-0.01", "0.00", "0.1", "0.11", "2", "10.0"];
        for pair in ordered.windows(2) {
            assert!(Decimal::parse(pair[0]) < Decimal::parse(pair[1]), "{pair:?}");
        }
        assert_eq!(Decimal::parse("1.5"), Decimal::parse("1.50"));
        assert_eq!(Decimal::parse("-0"), Decimal::parse("0.00"));
    }

    #[test]
    fn a_scale_is_changed_without_loss_or_not_at_all() {
        let decimal = Decimal::parse("-1.50").unwrap();
        assert_eq!(Some("-1500"), decimal.unscaled(3).as_deref());
        assert_eq!(Some("-15"), decimal.unscaled(1).as_deref());
        assert_eq!(None, decimal.unscaled(0));
    }
}
