//! Trial of the wheel in new environments: each supported Python on this machine, with the oldest
//! and the newest NumPy.

use crate::dist::toolchain::Toolchain;
use crate::files::{entries, output, with_ending};
use crate::{python, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Supported Python versions, each with the oldest NumPy (1.26 or later) that has a wheel for it.
const PYTHONS: [(&str, &str); 5] =
    [("3.10", "1.26.0"), ("3.11", "1.26.0"), ("3.12", "1.26.0"), ("3.13", "2.1.0"), ("3.14", "2.3.2")];
/// Packages that the tests use. The newest versions that work with the chosen NumPy are installed, as
/// wheels only. The newest scikit-learn for Python 3.10 cannot read the column names of Polars 2.
const PACKAGES: &str = "pytest scikit-learn scipy river typing_extensions pandas polars<2 pyarrow matplotlib joblib";
/// Versions of pyarrow for NumPy 1. Later versions can be installed with NumPy 1 but not imported.
const OLD_PYARROW: &str = "pyarrow<20";
/// Test files that need mypy, the figures of the book or pinned versions, and are left out.
const LEFT_OUT: &str = "test_types.py test_notebooks.py test_upstream.py";

/// Installs the wheel in each environment and runs the tests of the package. Returns a report.
pub fn install(root: &Path) -> Result<String, String> {
    let toolchain = Toolchain::new(root)?;
    let wheel = with_ending(&root.join("target/dist"), ".whl")?;
    let mut report = String::new();
    for (version, oldest) in PYTHONS {
        let Some(interpreter) = interpreter(version) else {
            report += &format!("   wheel, Python {version}: skipped, not on this machine\n");
            continue;
        };
        for numpy in [format!("numpy=={oldest}"), "numpy".to_owned()] {
            report += &try_environment(&toolchain, &interpreter, &numpy, &wheel)?;
            print!("{report}");
        }
    }
    Ok(report)
}

fn try_environment(toolchain: &Toolchain, base: &Path, numpy: &str, wheel: &Path) -> Result<String, String> {
    let environment = toolchain.root.join("target/python/trial");
    run(toolchain.command("uv").args(["venv", "--quiet", "--clear", "--python"]).arg(base).arg(&environment))?;
    let python = environment.join("bin/python");
    let mut install = toolchain.command("uv");
    install.args(["pip", "install", "--quiet", "--only-binary", ":all:", "--python"]).arg(&python);
    install.args(numpy.starts_with("numpy==1.").then_some(OLD_PYARROW));
    run(install.arg(wheel).arg(numpy).args(PACKAGES.split(' ')))?;
    let tests = toolchain.root.join("python/tests");
    let mut pytest = python::interpreter(&environment);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(&tests);
    pytest.args(LEFT_OUT.split(' ').map(|name| format!("--ignore={}", tests.join(name).display())));
    pytest.env("EIGENHEDGE_PROGRAM", toolchain.program());
    let printed = output(pytest.current_dir(&toolchain.root));
    let printed = printed.map_err(|reason| format!("{}, {numpy}: {reason}", base.display()))?;
    let facts = "import sys, numpy; print('Python %d.%d.%d, NumPy' % sys.version_info[:3], numpy.__version__)";
    let facts = output(python::interpreter(&environment).args(["-c", facts]))?;
    let last = printed.lines().last().unwrap_or_default();
    Ok(format!("   wheel, {}: {last}\n", facts.trim()))
}

/// Returns the path of a Python interpreter of this version, from pyenv or the search path, or
/// `None` if there is none.
fn interpreter(version: &str) -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let pyenv = std::env::var_os("PYENV_ROOT").map_or_else(|| home.join(".pyenv"), PathBuf::from).join("versions");
    let of_pyenv = entries(&pyenv).unwrap_or_default().into_iter();
    let named = of_pyenv.filter(|path| path.file_name().is_some_and(|name| starts(&name.to_string_lossy(), version)));
    let candidates = named.map(|path| path.join("bin/python")).chain([PathBuf::from(format!("python{version}"))]);
    let works = |path: &PathBuf| {
        let answer = Command::new(path).arg("--version").output();
        answer
            .is_ok_and(|answer| starts(String::from_utf8_lossy(&answer.stdout).trim_start_matches("Python "), version))
    };
    candidates.into_iter().find(works)
}

/// Returns true if the version `full`, such as 3.12.1, belongs to `version`, such as 3.12.
fn starts(full: &str, version: &str) -> bool {
    full.strip_prefix(version).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_version_is_not_a_prefix_of_its_digits() {
        assert!(
            super::starts("3.10.13", "3.10") && !super::starts("3.1.5", "3.10") && !super::starts("3.101.1", "3.10")
        );
    }
}
