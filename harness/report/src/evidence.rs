//! What supports one finding: the rows, the requests and replies, and what was checked about ourselves.

use nottwice_model::attempt::Attempt;
use nottwice_model::clause::Finding;
use nottwice_model::history::What;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::run::Run;
use nottwice_model::story::Story;

use crate::difference::{self, Difference};

/// What supports one finding.
#[derive(Debug)]
pub struct Evidence<'r> {
    /// The run as attempts.
    pub story: Story<'r>,
    /// The last deciding count, with its place in the history.
    pub count: Option<(usize, &'r Ledger)>,
    /// The rows of the finding's intent in that count.
    pub rows: Vec<&'r Row>,
    /// Whether the rows carry the right label and stand in the scope of somebody else.
    pub foreign: bool,
    /// The attempts that the deciding events belong to, in the order of sending.
    pub deciding: Vec<Attempt<'r>>,
    identity: usize,
}

/// Gathers what supports a finding.
pub fn of<'r>(run: &'r Run, finding: &Finding) -> Evidence<'r> {
    let story = Story::of(run);
    let count = deciding_count(run, finding);
    let (rows, foreign) = count.map(|(_, ledger)| rows(&story, ledger, finding.identity)).unwrap_or_default();
    let decides = |attempt: &&Attempt<'_>| {
        let own =
            [Some(attempt.sent), attempt.replied.map(|(seq, _)| seq), attempt.ended.map(|(seq, _)| seq)];
        let own = own.into_iter().chain([attempt.left]).flatten();
        own.chain(fired(run, attempt.call)).any(|seq| finding.events.contains(&seq))
    };
    let deciding = story.attempts.iter().filter(decides).cloned().collect();
    Evidence { count, rows, foreign, deciding, identity: finding.identity, story }
}

/// When the fault of a call fired.
fn fired(run: &Run, of: &str) -> Option<usize> {
    let events = run.history.events.iter();
    events.enumerate().find_map(|(seq, event)| match &event.what {
        What::Fired { call, .. } if call == of => Some(seq),
        _ => None,
    })
}

/// The last count among the deciding events, else the first one after them, else the last one of all.
fn deciding_count<'r>(run: &'r Run, finding: &Finding) -> Option<(usize, &'r Ledger)> {
    let newest = finding.events.iter().max().copied().unwrap_or(0);
    let named = run.counts().rev().find(|(seq, _)| finding.events.contains(seq));
    named.or_else(|| run.counts().find(|(seq, _)| *seq > newest)).or_else(|| run.last_count())
}

/// The rows of an identity, or those that carry its label in a scope where they do not belong.
fn rows<'r>(story: &Story<'r>, ledger: &'r Ledger, identity: usize) -> (Vec<&'r Row>, bool) {
    let Some(of) = story.run.plan.identities.get(identity) else { return (Vec::new(), false) };
    let own = story.all_rows(ledger, identity);
    if !own.is_empty() {
        return (own, false);
    }
    let labels: Vec<_> = of.variants.iter().map(|variant| &story.run.plan.labels[variant.label]).collect();
    let labelled = |row: &&Row| labels.iter().any(|label| row.label.contains(label.as_str()));
    let elsewhere: Vec<_> = ledger.effects.iter().filter(labelled).collect();
    let foreign = !elsewhere.is_empty();
    (elsewhere, foreign)
}

impl<'r> Evidence<'r> {
    /// The labels that were looked for at the store: of the base arguments, then of the changed ones.
    pub fn labels(&self) -> Vec<&'r str> {
        let plan = &self.story.run.plan;
        let variants = plan.identities.get(self.identity).into_iter().flat_map(|of| &of.variants);
        let mut labels: Vec<_> = variants.map(|variant| plan.labels[variant.label].as_str()).collect();
        labels.dedup();
        labels
    }

    /// How many rows of the deciding count belong to other intents.
    pub fn other_rows(&self) -> usize {
        self.count.map_or(0, |(_, ledger)| ledger.effects.len().saturating_sub(self.rows.len()))
    }

    /// How many receipts the deciding count has for the key of the finding's intent.
    pub fn receipts(&self) -> Option<usize> {
        let plan = &self.story.run.plan;
        let key = plan.keys.get(plan.identities.get(self.identity)?.key?)?;
        let receipts = self.count?.1.receipts.as_ref()?;
        Some(receipts.iter().filter(|row| row.id.contains(key.as_str())).count())
    }

    /// The attempt whose request is shown: the first deciding one, else the first of the intent.
    pub fn asked(&self) -> Option<(&'r str, &'r str)> {
        let first = self.deciding.first().or_else(|| self.story.attempts_of(self.identity).next())?;
        match &self.story.run.history.events.get(first.sent)?.what {
            What::Sent { call, bytes, .. } => Some((call, bytes)),
            _ => None,
        }
    }

    /// The replies that are shown, by call: that of the first and of the last deciding attempt that has one.
    pub fn replies(&self) -> Vec<(&'r str, &'r str)> {
        let all: Vec<_> = self.replied().into_iter().filter_map(|attempt| self.reply(attempt)).collect();
        match all.as_slice() {
            [first, .., last] => vec![*first, *last],
            few => few.to_vec(),
        }
    }

    /// Where the business results of the first and the last deciding success differ.
    pub fn differences(&self) -> Vec<Difference> {
        let replied = self.replied();
        let Some(first) = replied.first() else { return Vec::new() };
        // Other arguments may well be answered otherwise.
        let alike = replied.iter().filter(|a| a.identity == first.identity && a.variant == first.variant);
        let answers: Vec<_> = alike.filter_map(|attempt| attempt.said()?.acked()).collect();
        let [first, .., last] = answers.as_slice() else { return Vec::new() };
        difference::between(&first.value, &last.value)
    }

    /// The attempts whose replies matter. A finding about the store names when attempts were sent, so
    /// that theirs are all there is.
    fn replied(&self) -> Vec<&Attempt<'r>> {
        self.deciding.iter().filter(|attempt| attempt.replied.is_some()).collect()
    }

    fn reply(&self, attempt: &Attempt<'r>) -> Option<(&'r str, &'r str)> {
        match &self.story.run.history.events.get(attempt.replied?.0)?.what {
            What::Replied { call, bytes, .. } => Some((call, bytes)),
            _ => None,
        }
    }

    /// What was checked about the harness itself, each as a phrase.
    pub fn checked(&self) -> Vec<String> {
        let plan = &self.story.run.plan;
        let mut checked = Vec::new();
        let keyed = plan.identities.get(self.identity).is_some_and(|of| of.key.is_some());
        if let Some(seen) = plan.survey.key_seen.as_ref().filter(|_| keyed) {
            checked.push(format!("the key arrived: {seen}"));
        }
        if !self.rows.is_empty() {
            checked.push("the label stands in every row shown".to_owned());
        } else if self.other_rows() > 0 {
            checked.push("the store can be read: rows of other intents were counted".to_owned());
        }
        let counts: Vec<_> = self.story.run.counts().map(|(_, ledger)| ledger).collect();
        checked.push(match counts.as_slice() {
            [] => "the store was never counted".to_owned(),
            [_] => "the store was counted once".to_owned(),
            [.., before, last] if before == last => {
                format!("the store was counted {} times, the last two counts agree", counts.len())
            }
            counts => format!("the store was counted {} times", counts.len()),
        });
        let copies = |call: &str| self.story.attempts.iter().filter(|attempt| attempt.call == call).count();
        if self.story.attempts.iter().all(|attempt| copies(attempt.call) == 1) {
            checked.push("the harness sent each attempt once".to_owned());
        }
        checked
    }
}
