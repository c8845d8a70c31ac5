//! Trial of the wheel with each supported Python on this machine, and the oldest and the newest NumPy.

use crate::dist::toolchain::Toolchain;
use crate::files::{output, with_ending};
use crate::{python, run};
use std::path::Path;
use std::process::Command;

/// Supported Python versions, each with the oldest NumPy (1.26 or later) that has a wheel for it.
const PYTHONS: [(&str, &str); 5] =
    [("3.10", "1.26.0"), ("3.11", "1.26.0"), ("3.12", "1.26.0"), ("3.13", "2.1.0"), ("3.14", "2.3.2")];
/// Packages of the tests. The newest scikit-learn for Python 3.10 cannot read the column names of Polars 2.
const PACKAGES: &str = "pytest scikit-learn scipy river typing_extensions pandas polars<2 pyarrow matplotlib joblib";
/// Later versions can be installed with NumPy 1 but not imported.
const OLD_PYARROW: &str = "pyarrow<20";
/// Tests that need mypy, the figures of the book or pinned versions.
const LEFT_OUT: &str = "test_types.py test_notebooks.py test_upstream.py";

pub fn install(root: &Path) -> Result<String, String> {
    let toolchain = Toolchain::new(root)?;
    let wheel = with_ending(&root.join("target/dist"), ".whl")?;
    let mut report = String::new();
    for (version, oldest) in PYTHONS {
        let Some(interpreter) = interpreter(&toolchain, version) else {
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

fn try_environment(toolchain: &Toolchain, base: &str, numpy: &str, wheel: &Path) -> Result<String, String> {
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
    let printed = printed.map_err(|reason| format!("{base}, {numpy}: {reason}"))?;
    let facts = "import sys, numpy; print('Python %d.%d.%d, NumPy' % sys.version_info[:3], numpy.__version__)";
    let facts = output(python::interpreter(&environment).args(["-c", facts]))?;
    let last = printed.lines().last().unwrap_or_default();
    Ok(format!("   wheel, {}: {last}\n", facts.trim()))
}

/// Returns the path of a Python interpreter, also of one that pyenv has installed but does not select.
fn interpreter(toolchain: &Toolchain, version: &str) -> Option<String> {
    let mut find = toolchain.command("uv");
    find.args(["python", "find", "--no-python-downloads", version]);
    if let Ok(versions) = output(Command::new("pyenv").args(["versions", "--bare"])) {
        find.env("PYENV_VERSION", versions.trim().replace('\n', ":"));
    }
    output(&mut find).ok().map(|path| path.trim().to_owned())
}
