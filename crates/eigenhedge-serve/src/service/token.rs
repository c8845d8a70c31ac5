//! Access tokens and their permissions.

use eigenhedge_io::printable_path;
use std::fs;
use std::path::Path;

const SHORTEST: usize = 16;
const LARGEST: u64 = 1 << 16;

/// Each scope includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Read,
    Write,
    Admin,
}

impl Scope {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

#[derive(Clone)]
pub struct Tokens(Vec<(Scope, Vec<u8>)>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} tokens", self.0.len())
    }
}

/// Reads a small file of secrets. Returns `Err` if users other than the owner have access.
pub fn read_private(path: &Path) -> Result<String, String> {
    let name = printable_path(path);
    let unreadable = |error: std::io::Error| format!("{name} cannot be read: {error}");
    let about = fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(format!("{name}: must be a file of at most {LARGEST} bytes"));
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!(
                "{name}: must be readable by its owner alone, mode 600, got {mode:o}; chmod 600 {name}"
            ));
        }
    }
    fs::read_to_string(path).map_err(unreadable)
}

impl Tokens {
    pub fn read(path: &Path) -> Result<Self, String> {
        Self::from_text(&read_private(path)?).map_err(|reason| format!("{}: {reason}", printable_path(path)))
    }

    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let words: Vec<&str> = text.split_whitespace().collect();
            let [scope, token] = words[..] else {
                return Err(format!("line {line}: must be a scope and a token"));
            };
            let scope = [Scope::Read, Scope::Write, Scope::Admin].into_iter().find(|one| one.name() == scope);
            let scope = scope.ok_or_else(|| format!("line {line}: the scope must be read, write or admin"))?;
            if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!("line {line}: a token must be at least {SHORTEST} printable ASCII characters"));
            }
            tokens.push((scope, token.as_bytes().to_vec()));
        }
        if tokens.is_empty() { Err("must hold at least one token".to_owned()) } else { Ok(Self(tokens)) }
    }

    /// Returns the scope of a known token. All are compared in full, so the time reveals nothing.
    pub fn scope(&self, given: &[u8]) -> Option<Scope> {
        let mut found = None;
        for (scope, token) in &self.0 {
            if std::hint::black_box(is_equal(token, given)) {
                found = found.max(Some(*scope));
            }
        }
        found
    }
}

/// Compares two tokens in a time that depends only on the length of `given`.
fn is_equal(token: &[u8], given: &[u8]) -> bool {
    let mut differences = u8::from(token.len() != given.len());
    for (i, byte) in given.iter().enumerate() {
        differences |= byte ^ token[i % token.len()];
    }
    differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# ours\nread 0123456789abcdef\n\nadmin  fedcba9876543210\n";

    #[test]
    fn a_token_has_the_scope_of_its_line() {
        let tokens = Tokens::from_text(TEXT).unwrap();
        assert_eq!(tokens.scope(b"0123456789abcdef"), Some(Scope::Read));
        assert_eq!(tokens.scope(b"fedcba9876543210"), Some(Scope::Admin));
        for wrong in [&b""[..], b"0123456789abcde", b"0123456789abcdeg", b"0123456789abcdef0123456789abcdef"] {
            assert_eq!(tokens.scope(wrong), None, "{wrong:?}");
        }
        assert!(Scope::Admin > Scope::Write && Scope::Write > Scope::Read);
        assert!(!format!("{tokens:?}").contains("0123"));
    }

    #[test]
    fn files_that_others_can_read_and_weak_tokens_are_refused() {
        assert!(Tokens::from_text("").is_err());
        assert!(Tokens::from_text("read short").is_err());
        assert!(Tokens::from_text("root 0123456789abcdef").is_err());
        assert!(Tokens::from_text("read 0123456789abcdef more").is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("tokens");
            fs::write(&path, TEXT).unwrap();
            for (mode, is_good) in [(0o600, true), (0o400, true), (0o644, false), (0o640, false), (0o602, false)] {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(Tokens::read(&path).is_ok(), is_good, "{mode:o}");
            }
        }
    }
}
