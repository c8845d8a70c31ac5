//! Names that break the output of programs that do not escape them.

pub const HOSTILE: &[&str] = &[
    "</script><script>window.broken=1</script>",
    "\"><img src=x onerror=window.broken=1>",
    "' onload='window.broken=1",
    "line\u{2028}separator\u{2029}end",
    "<!-- <![CDATA[ ]]> -->",
    "&lt;already&amp;escaped",
    "nul\u{0}bell\u{7}",
    "right\u{202e}to left",
    "{{7*7}} ${7*7} \\u003c",
    "",
];
