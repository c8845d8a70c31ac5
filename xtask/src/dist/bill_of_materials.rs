//! Bill of materials in the CycloneDX 1.6 format: packages, versions, licenses, checksums and dependencies.

use super::dependencies::Package;
use super::toolchain::Toolchain;
use crate::files::{self, output};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The first package is the main component.
pub fn write(toolchain: &Toolchain, packages: &[Package], folder: &Path) -> Result<(), String> {
    let mut date = Command::new("date");
    let time = output(date.args(["--utc", "+%Y-%m-%dT%H:%M:%SZ"]).arg(format!("--date=@{}", toolchain.epoch)))?;
    let text = serde_json::to_string_pretty(&document(packages, time.trim())).map_err(|error| error.to_string())?;
    files::write(&folder.join(format!("eigenhedge-{}.cdx.json", toolchain.version)), text + "\n")
}

fn document(packages: &[Package], time: &str) -> Value {
    let components: Vec<Value> = packages.iter().map(component).collect();
    let uses = |package: &Package| {
        let used: Vec<String> = package.uses.iter().map(|place| reference(&packages[*place])).collect();
        json!({ "ref": reference(package), "dependsOn": used })
    };
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "timestamp": time, "component": components.first() },
        "components": components.get(1..),
        "dependencies": packages.iter().map(uses).collect::<Vec<_>>(),
    })
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": if package.name == "eigenhedge-cli" { "application" } else { "library" },
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "purl": reference(package),
        "licenses": [{ "expression": package.licence }],
    });
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::super::dependencies::of_the_program;
    use super::*;

    #[test]
    fn every_package_is_a_component_and_every_use_names_one() {
        let packages = of_the_program(&crate::root()).unwrap();
        let document = document(&packages, "2026-01-01T00:00:00Z");
        let components = document["components"].as_array().unwrap();
        assert_eq!(components.len() + 1, packages.len());
        let mut names: Vec<&Value> = components.iter().map(|component| &component["bom-ref"]).collect();
        names.push(&document["metadata"]["component"]["bom-ref"]);
        let uses = document["dependencies"].as_array().unwrap();
        assert!(
            uses.iter().all(|entry| entry["dependsOn"].as_array().unwrap().iter().all(|name| names.contains(&name)))
        );
        let count = names.len();
        names.sort_by_key(|name| name.to_string());
        names.dedup();
        assert_eq!(names.len(), count, "two packages have one reference");
    }
}
