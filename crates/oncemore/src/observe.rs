//! Watches a run: a bar on a terminal, plain lines elsewhere.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use oncemore_run::{Event, Observer, Plan};

use crate::render::number::rows as counted;
use crate::render::progress::Tally;
use crate::ui::Ui;

/// Shows what happens during a run on stderr.
pub struct Watcher {
    ui: Ui,
    verbose: bool,
    bar: ProgressBar,
    tally: Mutex<Tally>,
    plan: OnceLock<Arc<Plan>>,
}

impl Watcher {
    /// A watcher that has seen nothing yet.
    pub fn new(ui: Ui, verbose: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        Watcher { ui, verbose, bar, tally: Mutex::default(), plan: OnceLock::new() }
    }

    /// What the run was to do, once it was planned.
    pub fn plan(&self) -> Option<Arc<Plan>> {
        self.plan.get().cloned()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show_bar(&self, total: u64) {
        if !self.ui.bar || total == 0 {
            return;
        }
        let (blocks, template) = if self.ui.err.unicode {
            ("█▉▊▋▌▍▎▏ ", "{bar:30.green} {pos}/{len} slices, {per_sec}, {eta} left  {msg}")
        } else {
            ("#>-", "[{bar:30}] {pos}/{len} slices, {per_sec}, {eta} left  {msg}")
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars(blocks));
        self.bar.set_length(total);
        self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(12));
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }
}

impl Observer for Watcher {
    fn event(&self, event: Event) {
        let (lines, position) = {
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            let lines = tally.take(&event, self.verbose, &self.ui.err);
            (lines, tally.position())
        };
        let (done, total, rows) = position;
        match &event {
            Event::Planned(plan) => {
                let _ = self.plan.set(Arc::clone(plan));
                self.show_bar(total);
            }
            Event::Started { model, .. } => self.bar.set_message(format!("{}  {model}", counted(rows))),
            Event::Tied { .. } => {}
            _ => self.bar.set_position(done),
        }
        for line in lines {
            self.bar.suspend(|| self.ui.talk(&line));
        }
    }
}
