//! Which message bears which fault: the rules of a proxy, and how many messages of each address have come.
//!
//! A message is looked up by what it is, so that its cost does not grow with the number of rules.

use std::collections::BTreeMap;

use crate::fault::Do;
use crate::rule::{Address, Release, Rule};

/// A message as far as it was read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sighting<'a> {
    /// Method and path of a request of HTTP.
    pub request: Option<(&'a str, &'a str)>,
    /// Method and, of a call, tool of a message of JSON-RPC.
    pub message: Option<(&'a str, Option<&'a str>)>,
}

/// What follows from a message that has come. Rules are told by their place in the file, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The rule whose fault it bears.
    pub bears: Option<usize>,
    /// Rules whose held message goes on now.
    pub frees: Vec<usize>,
    /// Rules whose held message goes on when this one was answered.
    pub frees_answered: Vec<usize>,
}

/// The rules, and what came of them so far.
#[derive(Debug)]
pub struct Docket {
    rules: Vec<Rule>,
    messages: BTreeMap<String, Tools>,
    requests: BTreeMap<String, BTreeMap<String, Counter>>,
    /// Messages that stand still until another one of their address comes or is answered.
    held: Vec<usize>,
    fired: Vec<bool>,
    /// By which other rule the message of a rule was taken.
    taken: BTreeMap<usize, usize>,
    /// How many rules about messages of JSON-RPC have not met theirs.
    open: usize,
}

#[derive(Debug, Default)]
struct Tools {
    all: Counter,
    each: BTreeMap<String, Counter>,
}

/// How many messages of one address have come, and which of them bear a fault.
#[derive(Debug, Default)]
struct Counter {
    seen: u64,
    rules: BTreeMap<u64, usize>,
    /// Every rule of the address.
    all: Vec<usize>,
}

impl Counter {
    fn enter(&mut self, nth: u64, rule: usize) {
        self.rules.insert(nth, rule);
        self.all.push(rule);
    }
}

impl Docket {
    /// The docket of some rules, before anything has come.
    pub fn new(rules: Vec<Rule>) -> Docket {
        let (mut messages, mut requests) =
            (BTreeMap::<_, Tools>::new(), BTreeMap::<_, BTreeMap<_, _>>::new());
        let mut open = 0;
        for (number, rule) in rules.iter().enumerate() {
            let counter: &mut Counter = match rule.on.clone() {
                Address::Message { method, tool } => {
                    open += 1;
                    let tools = messages.entry(method).or_default();
                    match tool {
                        Some(tool) => tools.each.entry(tool).or_default(),
                        None => &mut tools.all,
                    }
                }
                Address::Request { method, path } => {
                    requests.entry(method).or_default().entry(path).or_default()
                }
            };
            counter.enter(rule.nth, number);
        }
        let fired = vec![false; rules.len()];
        Docket { rules, messages, requests, held: Vec::new(), fired, taken: BTreeMap::new(), open }
    }

    /// The rule of that number.
    pub fn rule(&self, number: usize) -> &Rule {
        &self.rules[number]
    }

    /// Whether it still matters which message of JSON-RPC comes.
    pub fn reads_messages(&self) -> bool {
        self.open > 0 || !self.held.is_empty()
    }

    /// Whether it matters which tool a message of this method has.
    pub fn reads_tool(&self, method: &str) -> bool {
        self.messages.get(method).is_some_and(|tools| !tools.each.is_empty())
    }

    /// Counts a message that has come. Where several rules meet in it, the first of the file has it.
    pub fn see(&mut self, sighting: Sighting<'_>) -> Seen {
        let mut seen = Seen::default();
        let mut met = Vec::new();
        let Docket { rules, messages, requests, held, .. } = self;
        let mut count = |counter: &mut Counter| {
            counter.seen += 1;
            met.extend(counter.rules.get(&counter.seen).copied());
            if held.is_empty() {
                return;
            }
            held.retain(|number| {
                if !counter.all.contains(number) {
                    return true;
                }
                match rules[*number].until {
                    Some(Release::NextReply) => seen.frees_answered.push(*number),
                    _ => seen.frees.push(*number),
                }
                false
            });
        };
        if let Some((method, tool)) = sighting.message
            && let Some(tools) = messages.get_mut(method)
        {
            count(&mut tools.all);
            if let Some(counter) = tool.and_then(|tool| tools.each.get_mut(tool)) {
                count(counter);
            }
        }
        if let Some((method, path)) = sighting.request
            && let Some(counter) = requests.get_mut(method).and_then(|paths| paths.get_mut(path))
        {
            count(counter);
        }
        seen.bears = self.bears(&met);
        seen
    }

    fn bears(&mut self, met: &[usize]) -> Option<usize> {
        let first = met.iter().min().copied()?;
        for number in met {
            self.open -= usize::from(matches!(self.rules[*number].on, Address::Message { .. }));
            if *number != first {
                self.taken.insert(*number, first);
            }
        }
        let Rule { fault, until, .. } = &self.rules[first];
        if fault.deed == Do::Hold && !matches!(until, Some(Release::After(_))) {
            self.held.push(first);
        }
        Some(first)
    }

    /// Says that the fault of a rule was done, and proved.
    pub fn fired(&mut self, number: usize) {
        self.fired[number] = true;
    }

    /// The rules whose fault was never done, with the rule that had the message of each, if one had.
    pub fn unfired(&self) -> impl Iterator<Item = (&Rule, Option<&Rule>)> {
        let unfired = self.rules.iter().enumerate().filter(|(number, _)| !self.fired[*number]);
        unfired.map(|(number, rule)| (rule, self.taken.get(&number).map(|by| &self.rules[*by])))
    }
}

#[cfg(test)]
mod tests {
    use super::{Docket, Seen, Sighting};
    use crate::input::Source;
    use crate::rule::{Wire, parse};

    fn docket(faults: &[&str]) -> Docket {
        let text: String = faults.iter().map(|fault| format!("[[fault]]\n{fault}\n")).collect();
        Docket::new(parse(Source { file: "rules.toml", text: &text }, Wire::Http).expect("well formed"))
    }

    fn call(tool: &str) -> Sighting<'_> {
        Sighting { request: Some(("POST", "/mcp")), message: Some(("tools/call", Some(tool))) }
    }

    const SECOND: &str =
        "on = { method = \"tools/call\", tool = \"create\", nth = 2 }\nat = \"reply\"\ndo = \"drop\"";
    const ANY: &str = "on = { method = \"tools/call\", nth = 3 }\nat = \"reply\"\ndo = \"drop\"";
    const HELD: &str =
        "on = { method = \"POST\", path = \"/mcp\" }\nat = \"request\"\ndo = \"hold\"\nuntil = ";

    #[test]
    fn each_address_counts_its_own() {
        let mut docket = docket(&[SECOND, ANY]);
        let bears: Vec<_> =
            ["create", "list", "list", "create", "create"].map(|tool| docket.see(call(tool)).bears).to_vec();
        assert_eq!(bears, [None, None, Some(1), Some(0), None]);
        assert!(!docket.reads_messages(), "no other message matters any more");
        docket.fired(1);
        let unfired: Vec<_> = docket.unfired().map(|(rule, by)| (rule.line, by.is_some())).collect();
        assert_eq!(unfired, [(1, false)]);
    }

    #[test]
    fn one_message_bears_one_fault() {
        let mut docket = docket(&[SECOND, &ANY.replace('3', "2")]);
        docket.see(call("create"));
        assert_eq!(docket.see(call("create")).bears, Some(0));
        docket.fired(0);
        let unfired: Vec<_> = docket.unfired().map(|(rule, by)| (rule.line, by.map(|by| by.line))).collect();
        assert_eq!(unfired, [(5, Some(1))]);
    }

    #[test]
    fn a_held_message_goes_on_with_the_next_of_its_address() {
        let other = Sighting { request: Some(("GET", "/mcp")), message: None };
        for (until, frees, answered) in [
            ("\"next-request\"", vec![0], vec![]),
            ("\"next-reply\"", vec![], vec![0]),
            ("\"1s\"", vec![], vec![]),
        ] {
            let mut docket = docket(&[&format!("{HELD}{until}")]);
            assert_eq!(docket.see(call("create")).bears, Some(0));
            assert_eq!(docket.see(other), Seen::default());
            let seen = docket.see(call("create"));
            assert_eq!((seen.frees, seen.frees_answered), (frees, answered), "{until}");
            assert_eq!(docket.see(call("create")), Seen::default(), "{until}");
        }
    }
}
