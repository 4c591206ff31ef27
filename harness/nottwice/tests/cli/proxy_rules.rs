//! Files of rules with a mistake: each error names file, line and cure, and no server is started.

use crate::page::Page;
use crate::project::Project;

const ON: &str = "on = { method = \"tools/call\", tool = \"b\" }\n";
const DROP: &str = "at = \"reply\"\ndo = \"drop\"\n";

#[test]
fn rules_with_a_mistake_are_shown_in_their_line() {
    let fault = |words: &str| format!("[[fault]]\n{words}");
    let cases = [
        ("an empty file", String::new()),
        ("a misspelt field", fault(&format!("{ON}{DROP}tool = \"b\"\n"))),
        ("a misspelt field of the address", fault(&format!("on = {{ metod = \"x\" }}\n{DROP}"))),
        ("a deed that there is not", fault(&format!("{ON}at = \"reply\"\ndo = \"explode\"\n"))),
        ("a place inside the server", fault(&format!("{ON}at = \"after-commit\"\ndo = \"hold\"\n"))),
        ("a deed that needs the process", fault(&format!("{ON}at = \"reply\"\ndo = \"crash\"\n"))),
        ("a status of a message that is dropped", fault(&format!("{ON}{DROP}status = 502\n"))),
        ("an answer on stdio", fault(&format!("{ON}at = \"reply\"\ndo = \"answer\"\nstatus = 502\n"))),
        ("a reset on stdio", fault(&format!("{ON}at = \"reply\"\ndo = \"reset\"\n"))),
        (
            "a place that no line has",
            fault(&format!("{ON}at = \"reply\"\ndo = \"cut\"\nwhere = \"after-headers\"\n")),
        ),
        (
            "a request of HTTP on stdio",
            fault(&format!("on = {{ method = \"POST\", path = \"/x\" }}\n{DROP}")),
        ),
        ("a tool of another method", fault(&format!("on = {{ method = \"ping\", tool = \"b\" }}\n{DROP}"))),
        ("the message number 0", fault(&format!("on = {{ method = \"ping\", nth = 0 }}\n{DROP}"))),
        (
            "the reply of a notification",
            fault(&format!("on = {{ method = \"notifications/initialized\" }}\n{DROP}")),
        ),
        ("held without an end", fault(&format!("{ON}at = \"reply\"\ndo = \"hold\"\n"))),
        ("held until nothing", fault(&format!("{ON}at = \"reply\"\ndo = \"hold\"\nuntil = \"lunch\"\n"))),
        ("released and never held", fault(&format!("{ON}{DROP}until = \"1s\"\n"))),
        (
            "two faults of one message",
            fault(&format!("{ON}{DROP}name = \"x\"\n")) + &fault(&format!("{ON}{DROP}")),
        ),
    ];
    let mut page = Page::new();
    for (title, text) in cases {
        let project = Project::new().with("rules.toml", text);
        page.refused(title, project.run("proxy rules.toml -- no-such-program-here"));
    }
    page.refused("no such file", Project::new().run("proxy rules.toml -- no-such-program-here"));
    page.compare("rules_with_a_mistake");
}
