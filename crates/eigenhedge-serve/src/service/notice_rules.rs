//! Rules for notices: which incidents are reported, and how notices are sent.

use super::engine::SilentAfter;
use super::fields::{Fields, must};
use super::problem::Problem;
use eigenhedge_io::{Timezone, duration};
use eigenhedge_pages::monitor::{Lasting, Least, Severity};

const PER_HOUR: u64 = 20;
pub const OF_NOTICES: [&str; 5] = ["webhook", "template", "quiet_hours", "notices_per_hour", "silent_after"];
pub const OF_HOOKS: [&str; 3] = ["template", "quiet_hours", "notices_per_hour"];
pub const OF_INCIDENTS: [&str; 2] = ["min_severity", "min_duration"];

#[derive(Debug, Clone)]
pub struct NoticeRules {
    /// Minimum severity of reported incidents, or `None` if it depends on the number of keys.
    least_severity: Option<Severity>,
    least_duration: Lasting,
    pub silent_after: Option<SilentAfter>,
    pub hook: Option<Hook>,
}

#[derive(Debug, Clone)]
pub struct Hook {
    pub url: String,
    pub template: String,
    pub quiet: Option<QuietHours>,
    pub per_hour: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuietHours {
    /// Minutes of the day. `to` is the first that is not quiet.
    from: u32,
    to: u32,
    zone: Option<Timezone>,
}

impl QuietHours {
    /// Parses `22:00-06:00` or `22:00-06:00 Europe/Berlin`. Without a zone, times are in UTC.
    pub fn from_text(text: &str) -> Option<Self> {
        let (hours, zone) = text.split_once(' ').map_or((text, None), |(hours, zone)| (hours, Some(zone)));
        let minute = |text: &str| {
            let (hour, minute) = text.split_once(':')?;
            let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
            (hour < 24 && minute < 60).then_some(60 * hour + minute)
        };
        let (from, to) = hours.split_once('-')?;
        let zone = zone.map_or(Some(None), |zone| Timezone::from_name(zone).map(Some))?;
        Some(Self { from: minute(from)?, to: minute(to)?, zone })
    }

    pub fn contains(&self, time: f64) -> bool {
        let local = time + f64::from(self.zone.map_or(0, |zone| zone.offset(time)));
        let minute = (local.rem_euclid(86400.0) / 60.0) as u32;
        let (is_after, is_before) = (minute >= self.from, minute < self.to);
        if self.from <= self.to { is_after && is_before } else { is_after || is_before }
    }
}

impl NoticeRules {
    pub fn new(fields: &Fields<'_>) -> Result<Self, Problem> {
        const TIME: &str = "a duration such as 15min or 2h";
        let severity = fields.text("min_severity")?;
        let least_severity =
            severity.map(|text| text.parse().map_err(|words| must("min_severity", words, &text))).transpose()?;
        let text = fields.text("min_duration")?.unwrap_or_else(|| "0".to_owned());
        let least_duration = text.parse().map_err(|words| must("min_duration", words, &text))?;
        let silent_after = match fields.text("silent_after")? {
            None => None,
            Some(text) if text == "auto" => Some(SilentAfter::Learned),
            Some(text) => {
                let seconds =
                    duration(&text).ok_or_else(|| must("silent_after", &format!("{TIME}, or auto"), &text))?;
                Some(SilentAfter::Seconds(seconds))
            }
        };
        let quiet = match fields.text("quiet_hours")? {
            None => None,
            Some(text) => Some(QuietHours::from_text(&text).ok_or_else(|| {
                must("quiet_hours", "two times of day such as 22:00-06:00, and optionally a time zone", &text)
            })?),
        };
        let per_hour = fields.read("notices_per_hour", "a whole number")?.unwrap_or(PER_HOUR);
        let template = fields.text("template")?.unwrap_or_else(|| "json".to_owned());
        let hook = fields.text("webhook")?.map(|url| Hook { url, template, quiet, per_hour });
        if hook.is_none()
            && let Some(name) = OF_HOOKS.iter().find(|name| fields.has(name))
        {
            return Err(Problem::unsound(format!("{name} has no effect without webhook")));
        }
        if hook.as_ref().is_some_and(|hook| hook.per_hour == 0) {
            return Err(must("notices_per_hour", "at least 1", "0"));
        }
        Ok(Self { least_severity, least_duration, silent_after, hook })
    }

    /// By default, the severity grows with the number of keys, so that the number of false notices does not.
    pub fn least(&self, keys: usize) -> Least {
        let default = || Severity(1.0 + (keys.max(1) as f64).log10());
        Least { severity: self.least_severity.unwrap_or_else(default), duration: self.least_duration }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_may_cross_midnight_and_have_a_zone() {
        let hour = |hours: f64| 86400.0 * 20_000.0 + 3600.0 * hours;
        let night = QuietHours::from_text("22:00-06:30").unwrap();
        let inside = [(21.9, false), (22.0, true), (3.0, true), (6.4, true), (6.5, false), (12.0, false)];
        inside.iter().for_each(|(hours, is)| assert_eq!(night.contains(hour(*hours)), *is, "{hours}"));
        // The day is 2024-10-04, in summer time.
        let berlin = QuietHours::from_text("09:00-10:00 Europe/Berlin").unwrap();
        assert!(berlin.contains(hour(7.5)) && !berlin.contains(hour(9.5)));
        for wrong in ["22-6", "25:00-06:00", "22:00", "22:00-06:00 Nowhere", ""] {
            assert_eq!(QuietHours::from_text(wrong), None, "{wrong}");
        }
    }
}
