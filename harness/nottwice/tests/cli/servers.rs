//! Small servers of users, some of them bad ones, and the target files that start them.

/// An MCP server that answers success for everything and does nothing. Its table is there and stays empty.
/// What stands in `{{hostile}}` is printed with every reply and on standard error.
pub(crate) const INVENTS_SUCCESS: &str = r#"
import json, sqlite3, sys

HOSTILE = "{{hostile}}"
database = sqlite3.connect("notes.db")
database.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)")
database.commit()
sys.stdout.reconfigure(encoding="utf-8")
sys.stderr.reconfigure(encoding="utf-8")
print("notes: ready " + HOSTILE, file=sys.stderr, flush=True)

fields = {"text": {"type": "string"}, "key": {"type": "string"}}
schema = {"type": "object", "properties": fields}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method = asked["method"]
    if method == "initialize":
        server = {"name": "notes", "version": "1"}
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    elif method == "tools/list":
        result = {"tools": [{"name": "create", "description": HOSTILE, "inputSchema": schema}]}
    else:
        text = "done " + HOSTILE
        result = {"content": [{"type": "text", "text": text}], "structuredContent": {"id": text}}
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
    print(json.dumps(answer, ensure_ascii=False), flush=True)
"#;

/// The same server, with nothing hostile in it.
pub(crate) fn invents_success() -> String {
    INVENTS_SUCCESS.replace("{{hostile}}", "")
}

/// The file of a target over stdio. The command is a TOML array.
pub(crate) fn stdio(command: &str, rest: &str) -> String {
    format!(
        "name = \"mine\"\n\n[start]\ncommand = {command}\nready_within = \"5s\"\n\n\
         [reach]\ntransport = \"mcp-stdio\"\n\n\
         [tool.main]\nname = \"create\"\narguments = {{ text = \"{{label}}\" }}\n\n{rest}"
    )
}

/// The file of a target over HTTP.
pub(crate) fn http(command: &str, base: &str, rest: &str) -> String {
    format!(
        "name = \"mine\"\n\n[start]\ncommand = {command}\nready_within = \"5s\"\n\n\
         [reach]\ntransport = \"http\"\nbase = \"{base}\"\n{rest}\n\
         [tool.main]\npath = \"/notes\"\narguments = {{ text = \"{{label}}\" }}\n"
    )
}

/// The file of a target that runs a Python program, which stands beside it.
pub(crate) fn python(program: &std::path::Path, rest: &str) -> String {
    stdio(&format!("[\"python3\", \"{}\"]", program.display()), rest)
}

/// The lines that say where the key sits.
pub(crate) const KEY: &str = "[key]\nat = \"arguments:/key\"\n";

/// The lines that say where effects are counted.
pub(crate) fn store(query: &str) -> String {
    format!("\n[[store]]\nsqlite = \"{{state}}/notes.db\"\neffects = \"{query}\"\n")
}

/// The query that fits [`INVENTS_SUCCESS`].
pub(crate) const QUERY: &str = "SELECT id, text AS label FROM notes";

/// The shipped target of that name, with the reference server's defect, and a long time to recover in.
pub(crate) fn slow_reference(name: &str) -> String {
    let text = match name {
        "reference-http" => include_str!("../../../../fixtures/targets/reference-http.toml"),
        _ => include_str!("../../../../fixtures/targets/reference-stdio.toml"),
    };
    let defect = "NOTES_DEFECT = \"strands-the-key\"";
    let text = text
        .replace("[start.env]\n", &format!("[start.env]\n{defect}\n"))
        .replace("env          = { ", &format!("env          = {{ {defect}, "))
        .replace("bound = \"1s\"", "bound = \"10m\"");
    assert!(text.contains(defect) && text.contains("10m"), "the shipped file has changed: {text}");
    text
}
