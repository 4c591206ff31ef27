//! The lines that a process prints on standard error, for whoever waits for one of them.

use std::sync::{Arc, Mutex};

use tokio::sync::broadcast;

/// More of a line than this is no evidence that anybody would ask for.
const LINE_MOST: usize = 4_096;

/// How many lines may come between two looks.
const LINES_MOST: usize = 4_096;

/// What a process prints, cut into lines. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    begun: Arc<Mutex<Vec<u8>>>,
    whole: broadcast::Sender<Arc<str>>,
}

impl Lines {
    pub(crate) fn new() -> Lines {
        Lines { begun: Arc::default(), whole: broadcast::channel(LINES_MOST).0 }
    }

    /// Adds what was printed; a line is told when it ends.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut begun = self.begun.lock().expect("nothing panics under this lock");
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_MOST.saturating_sub(begun.len());
            begun.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                // Without a listener nobody waits for it.
                let _ = self.whole.send(String::from_utf8_lossy(&begun).trim_end().into());
                begun.clear();
            }
        }
    }

    /// The lines that end from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Arc<str>> {
        self.whole.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_told_whole_from_when_they_are_asked_for() {
        let lines = Lines::new();
        lines.add(b"before\n");
        let mut told = lines.listen();
        lines.add(b"one\ntw");
        lines.add(b"o\nthree");
        let told: Vec<_> = std::iter::from_fn(|| told.try_recv().ok()).collect();
        assert_eq!(told.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["one", "two"]);
    }
}
