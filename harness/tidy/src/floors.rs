//! The floors of the house: which package may stand on which, read from the manifests.

use crate::complaint::Complaint;
use crate::packages::{Package, packages};
use crate::tree::SourceFile;

/// A package, what it may stand on, and why no more.
struct Floor {
    package: &'static str,
    on: &'static [&'static str],
    why: &'static str,
}

/// Arrows point down only; `driver` and `report` never meet.
const FLOORS: &[Floor] = &[
    Floor { package: "nottwice-model", on: &[], why: "the model judges, so it is pure and knows nobody" },
    Floor {
        package: "nottwice-driver",
        on: &["nottwice-model"],
        why: "what makes things happen never meets what says them",
    },
    Floor {
        package: "nottwice-report",
        on: &["nottwice-model"],
        why: "what says things never meets what makes them happen",
    },
    Floor {
        package: "nottwice-fixtures",
        on: &[],
        why: "a bug that judge and judged shared would be invisible",
    },
    Floor {
        package: "nottwice",
        on: &["nottwice-driver", "nottwice-report", "nottwice-model", "nottwice-fixtures"],
        why: "the binary stands on the house, not on its tests or benches",
    },
    Floor {
        package: "nottwice-benches",
        on: &["nottwice", "nottwice-driver", "nottwice-report", "nottwice-model", "nottwice-fixtures"],
        why: "benches stand on top",
    },
    Floor { package: TIDY, on: &[], why: "it must run when the others do not compile" },
];

/// The one package that depends on nothing whatever, not even for its tests.
const TIDY: &str = "nottwice-tidy";

/// Every arrow that points where it must not.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let packages = packages(files);
    let mut complaints = Vec::new();
    for package in &packages {
        match FLOORS.iter().find(|floor| floor.package == package.name) {
            Some(floor) => complaints.extend(arrows(package, floor, &packages)),
            None => complaints.push(Complaint::new(
                &package.manifest.path,
                1,
                format!("`{}` stands on no floor", package.name),
                "give it a line in FLOORS of harness/tidy/src/floors.rs",
            )),
        }
    }
    complaints
}

fn arrows(package: &Package<'_>, floor: &Floor, packages: &[Package<'_>]) -> Vec<Complaint> {
    let is_wrong = |name: &str, is_dev: bool| {
        let is_ours = packages.iter().any(|package| package.name == name);
        package.name == TIDY || (is_ours && !is_dev && !floor.on.contains(&name))
    };
    let wrong = package.needs.iter().filter(|need| is_wrong(&need.name, need.is_dev));
    wrong
        .map(|need| {
            Complaint::new(
                &package.manifest.path,
                need.line,
                format!("`{}` depends on `{}`", package.name, need.name),
                format!("remove the dependency: {}", floor.why),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    fn manifest(package: &str, rest: &str) -> SourceFile {
        let text = format!("[package]\nname = \"{package}\"\n{rest}");
        SourceFile::new(format!("{package}/Cargo.toml"), text)
    }

    #[test]
    fn an_arrow_down_is_fine() {
        let files = [
            manifest("nottwice-model", "[dependencies]\nserde.workspace = true\n"),
            manifest("nottwice-driver", "[dependencies]\nnottwice-model.workspace = true\n"),
            manifest("nottwice-fixtures", ""),
            manifest("nottwice-report", "[dev-dependencies]\nnottwice-fixtures.workspace = true\n"),
        ];
        assert_eq!(check(&files), []);
    }

    #[test]
    fn an_arrow_aside_is_a_breach() {
        let files = [
            manifest("nottwice-report", ""),
            manifest("nottwice-driver", "[dependencies]\nnottwice-report.workspace = true\n"),
        ];
        let found = check(&files);
        assert_eq!((found.len(), found[0].line), (1, 4));
        assert_eq!(found[0].breach, "`nottwice-driver` depends on `nottwice-report`");
    }

    #[test]
    fn tidy_depends_on_nothing() {
        let found = check(&[manifest("nottwice-tidy", "[dev-dependencies]\nregex = \"1\"\n")]);
        assert_eq!(found[0].breach, "`nottwice-tidy` depends on `regex`");
    }

    #[test]
    fn a_new_package_needs_a_floor() {
        assert_eq!(check(&[manifest("nottwice-attic", "")])[0].breach, "`nottwice-attic` stands on no floor");
    }
}
