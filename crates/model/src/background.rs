//! What goes on beside the runners: clean-up, another writer, resolving, making the ledger anew; and the state machine
//! as a whole.

use crate::config::{Config, Flaw};
use crate::runner::folded_rows;
use crate::state::{
    ATTEMPTS, Act, COMPACTED, Gc, Head, Ledger, Product, Runner, SLICES, Said, Stand, State, WRONG_FENCE,
    all_metadata, data, folded, of_slice, piece,
};
use crate::step::Step;

impl Config {
    /// The state in which nothing has happened yet: each slice holds rows that were there before.
    pub fn start(&self) -> State {
        let live = data(0, 0) | data(0, 1);
        let head = Head { live, map: live, ..Head::default() };
        let mut rows = [0; ATTEMPTS];
        rows[0] = folded_rows([1; SLICES]);
        State {
            head,
            product: Product { at: 0, file: 0, log: [1; SLICES] },
            names: 0,
            files: live | if self.folds { folded(0) } else { 0 },
            rows,
            compacted: 0,
            audited: live,
            ledger: Ledger::default(),
            attempts: 0,
            about: Default::default(),
            runners: [Runner::default(); 3],
            limbo: None,
            gc: None,
            compaction: None,
            rebuild: None,
            verdicts: None,
            before: None,
            crashes: self.crashes,
            lost: self.lost,
            gcs: self.gc,
            compacts: self.compacts,
            rolls_back: self.rolls_back,
            rebuilds: self.rebuilds,
            expect: [1; SLICES],
            ever: 0,
            clock: 0,
            ages: 0,
            made: [0; 3],
            wrong: 0,
        }
    }

    /// What can happen next.
    pub fn actions(&self, state: &State, out: &mut Vec<Act>) {
        for (place, runner) in (0u8..).zip(&state.runners[..self.runners.len()]) {
            if runner.stand == Stand::Done {
                continue;
            }
            out.push(Act::Step(place));
            if state.lost > 0 && self.can_swap(state, usize::from(place)) {
                out.extend([Act::SwapAnswerLost(place), Act::SwapInLimbo(place)]);
            }
            if state.crashes > 0 && runner.stand > Stand::Looked {
                out.push(Act::Crash(place));
            }
        }
        if state.limbo.is_some() {
            out.push(Act::Land);
        }
        match (state.verdicts, self.open(state)) {
            (Some(_), _) => out.push(Act::ResolveWrite),
            (None, true) if self.resolves => out.push(Act::ResolveRead),
            (None, _) => {}
        }
        self.gc_actions(state, out);
        if state.compacts && (state.head.live & of_slice(0)).count_ones() == 1 {
            out.push(Act::CompactWrite);
        }
        if state.compaction.is_some() {
            out.push(Act::CompactSwap);
        }
        if state.rebuild.is_some() {
            out.push(Act::RebuildWrite);
        } else if state.rebuilds && state.ledger.counter > 0 {
            out.push(Act::RebuildRead);
        }
        if state.rolls_back && state.before.is_some() {
            out.push(Act::RollBack);
        }
    }

    fn gc_actions(&self, state: &State, out: &mut Vec<Act>) {
        let Some(gc) = state.gc else {
            if state.gcs > 0 && state.files & !named(&state.head, &state.product) != 0 {
                out.push(Act::GcList);
            }
            return;
        };
        let state_first = self.has(Flaw::GcReadsStateFirst);
        let state_read = gc.product.is_some() || !self.folds;
        match (gc.head, state_read) {
            (None, true) => out.push(Act::GcRead),
            (None, false) => out.push(if state_first { Act::GcReadState } else { Act::GcRead }),
            (Some(_), false) => out.push(Act::GcReadState),
            (Some(_), true) => {
                out.push(Act::GcRemove);
                if !gc.moved {
                    out.extend([Act::GcFence { dead: false }, Act::GcFence { dead: true }]);
                }
            }
        }
    }

    /// The steps of the protocol that `act` takes; none where it is a fault, or another writer's deed.
    pub fn steps(&self, state: &State, act: Act) -> &'static [Step] {
        match act {
            Act::Step(runner) => match state.runners[usize::from(runner)].stand {
                Stand::Idle => &[Step::Look],
                Stand::Looked => &[Step::Claim],
                Stand::Claimed => &[Step::Stage, Step::Audit],
                Stand::Audited => &[Step::Plan, Step::Persist],
                Stand::Persisted if !self.can_swap(state, usize::from(runner)) => &[Step::Rebase],
                Stand::Persisted | Stand::Half => &[Step::Swap],
                Stand::Unknown => &[Step::LookAgain],
                Stand::Settling => &[Step::Settle, Step::Confirm],
                Stand::Ending => &[Step::Confirm],
                Stand::Done => &[],
            },
            Act::SwapAnswerLost(_) | Act::SwapInLimbo(_) => &[Step::Swap],
            Act::ResolveRead | Act::ResolveWrite => &[Step::Resolve],
            Act::GcList => &[Step::GcList],
            Act::GcRead | Act::GcReadState => &[Step::GcRead],
            Act::GcFence { .. } => &[Step::GcFence],
            Act::GcRemove => &[Step::GcRemove],
            Act::CompactWrite => &[Step::CompactWrite],
            Act::CompactSwap => &[Step::CompactSwap],
            Act::RebuildRead => &[Step::RebuildRead],
            Act::RebuildWrite => &[Step::RebuildWrite],
            Act::Crash(_) | Act::Land | Act::RollBack => &[],
        }
    }

    /// `act` in words.
    pub fn describe(&self, state: &State, act: Act) -> String {
        let names = self.steps(state, act).iter().map(|step| step.name()).collect::<Vec<_>>().join(", ");
        let who = |runner: u8| {
            let attempt = state.runners[usize::from(runner)].attempt;
            let of = if attempt == 0 { String::new() } else { format!(", attempt {attempt}") };
            format!("runner {runner}{of}")
        };
        match act {
            Act::Step(runner) => format!("{}: {names}", who(runner)),
            Act::SwapAnswerLost(runner) => {
                format!("{}: {names}, which lands; the answer is lost", who(runner))
            }
            Act::SwapInLimbo(runner) => {
                format!("{}: {names}, which fails at its end and may land later", who(runner))
            }
            Act::Crash(runner) => format!("{}: its process dies", who(runner)),
            Act::Land => "recovery lands the transaction after all".to_owned(),
            Act::RollBack => "another writer sets the table back".to_owned(),
            Act::ResolveRead => "resolve: judge".to_owned(),
            Act::ResolveWrite => "resolve: record".to_owned(),
            Act::GcRead if self.folds => "gc: read the log's head".to_owned(),
            Act::GcReadState => "gc: read the folded table's head".to_owned(),
            Act::GcFence { dead: true } => "gc: fence, attempts taken for dead".to_owned(),
            Act::GcFence { dead: false } => "gc: fence, attempts taken for alive".to_owned(),
            _ => names,
        }
    }

    /// The state after `act`; `None` where it changes nothing.
    pub fn next(&self, last: &State, act: Act) -> Option<State> {
        let mut state = *last;
        match act {
            Act::Step(runner) => self.step(&mut state, usize::from(runner)),
            Act::SwapAnswerLost(runner) => {
                state.lost -= 1;
                self.swap_answer_lost(&mut state, usize::from(runner));
            }
            Act::SwapInLimbo(runner) => {
                state.lost -= 1;
                let at = &mut state.runners[usize::from(runner)];
                at.stand = Stand::Unknown;
                state.limbo = at.plan;
            }
            Act::Crash(runner) => {
                state.crashes -= 1;
                state.runners[usize::from(runner)] = Runner::default();
            }
            Act::Land => {
                if let Some(plan) = state.limbo {
                    state.apply(self, &plan);
                    state.apply_product(&plan);
                    state.receive(&plan);
                }
            }
            Act::ResolveRead => state.verdicts = Some(self.verdicts(&state)),
            Act::ResolveWrite => self.resolve(&mut state),
            Act::GcList => {
                state.gcs -= 1;
                state.gc = Some(Gc { listed: state.files, ..Gc::default() });
            }
            Act::GcRead => with_gc(&mut state, |gc, state| gc.head = Some(state.head)),
            Act::GcReadState => with_gc(&mut state, |gc, state| gc.product = Some(state.product.file)),
            Act::GcFence { dead } => self.gc_fence(&mut state, dead),
            Act::GcRemove => self.gc_remove(&mut state),
            Act::CompactWrite => {
                state.compacts = false;
                state.compacted = state.content(self, state.head.live, 0).unwrap_or_default();
                state.files |= COMPACTED;
                state.compaction = Some(state.head);
            }
            Act::CompactSwap => self.compact(&mut state),
            Act::RollBack => self.roll_back(&mut state),
            Act::RebuildRead => {
                state.rebuilds = false;
                state.rebuild = Some(state.head);
            }
            Act::RebuildWrite => self.rebuild(&mut state),
        }
        (state != *last).then_some(state)
    }

    fn open(&self, state: &State) -> bool {
        state.ledger.said.iter().flatten().any(|said| *said == Said::Open)
    }

    /// What the table says of open attempts, each process taken for dead.
    fn verdicts(&self, state: &State) -> [u16; 3] {
        let mut verdicts = [0; 3];
        for attempt in 1..=state.attempts {
            for slice in 0..SLICES {
                if state.ledger.said[usize::from(attempt)][slice] == Said::Open {
                    let committed = state.head.stamp[slice] == attempt;
                    let fenced = state.head.fence[slice] > state.about[usize::from(attempt)].epoch;
                    let which = if committed {
                        0
                    } else if fenced {
                        1
                    } else {
                        2
                    };
                    verdicts[which] |= piece(attempt, slice);
                }
            }
        }
        verdicts
    }

    fn resolve(&self, state: &mut State) {
        state.written();
        let Some(verdicts) = state.verdicts.take() else { return };
        for (set, end) in verdicts.into_iter().zip([Said::Committed, Said::Superseded, Said::Failed]) {
            for attempt in 1..=state.attempts {
                for slice in 0..SLICES {
                    if set & piece(attempt, slice) != 0 {
                        state.end(self, attempt, slice, end);
                    }
                }
            }
        }
    }

    /// An empty commit: whatever was planned before it has to be planned again.
    fn gc_fence(&self, state: &mut State, dead: bool) {
        let Some(mut gc) = state.gc else { return };
        let Some(mut head) = gc.head.filter(|head| head.at == state.head.at) else {
            state.gc = None;
            return;
        };
        let orphans = gc.listed & !named(&head, &state.product);
        for attempt in (1..=state.attempts).filter(|_| dead) {
            let about = state.about[usize::from(attempt)];
            for slice in 0..SLICES {
                let own = folded(attempt) * u64::from(usize::from(about.label) == slice);
                if orphans & (data(attempt, slice) | own) != 0 {
                    head.fence[slice] = head.fence[slice].max(about.epoch);
                }
            }
        }
        head.metadata = 0;
        head.at = state.fresh();
        state.written();
        state.head = head;
        gc.head = Some(head);
        gc.moved = true;
        state.gc = Some(gc);
    }

    fn gc_remove(&self, state: &mut State) {
        let Some(Gc { listed, head: Some(head), product, moved }) = state.gc.take() else { return };
        let product = Product { file: product.unwrap_or_default(), ..Product::default() };
        let orphans = listed & !named(&head, &product);
        for attempt in 0..=state.attempts {
            let about = state.about[usize::from(attempt)];
            for slice in 0..SLICES {
                if head.fence[slice] >= about.epoch || self.has(Flaw::GcByAge) {
                    let own = folded(attempt) * u64::from(usize::from(about.label) == slice);
                    state.files &= !(orphans & (data(attempt, slice) | own));
                }
            }
        }
        let locked = self.has(Flaw::GcUnderLock) && head.at == state.head.at;
        if moved || locked || self.has(Flaw::GcMetadataByAge) {
            state.files &= !(orphans & all_metadata());
        }
    }

    /// Equal rows in another file; the slice map does not know it.
    fn compact(&self, state: &mut State) {
        let Some(base) = state.compaction.take() else { return };
        if base.at != state.head.at && !self.has(Flaw::BlindCompaction) {
            state.files &= !COMPACTED;
            return;
        }
        let at = state.fresh();
        let live = base.live & !of_slice(0) | COMPACTED;
        state.head = Head { live, metadata: 0, at, ..base };
        state.written();
    }

    /// Stamps, files and count go back with the data; what belongs to the table stays.
    fn roll_back(&self, state: &mut State) {
        let Some((old, expect)) = state.before.take() else { return };
        let now = state.head;
        let fence = if self.has(Flaw::FencesRollBack) { old.fence } else { now.fence };
        if fence.iter().zip(now.fence).any(|(fence, now)| *fence < now) {
            state.wrong |= WRONG_FENCE;
        }
        let at = state.fresh();
        state.head = Head { at, metadata: 0, fence, high: now.high, ..old };
        state.expect = expect;
        state.rolls_back = false;
        state.written();
    }

    fn rebuild(&self, state: &mut State) {
        let Some(base) = state.rebuild.take() else { return };
        if self.has(Flaw::RebuildSetsBack) {
            state.head = base;
        }
        state.written();
        let top = state.head.fence.into_iter().max().unwrap_or(0);
        let counter = state.head.fence.iter().map(|fence| fence % 16).max().unwrap_or(0);
        state.ledger = Ledger { request: top / 16, counter, ..Ledger::default() };
        state.made = [0; 3];
        for slice in 0..SLICES {
            let stamp = state.head.stamp[slice];
            if stamp != 0 {
                state.ledger.said[usize::from(stamp)][slice] = Said::Committed;
            }
        }
    }
}

fn with_gc(state: &mut State, change: impl FnOnce(&mut Gc, &State)) {
    if let Some(mut gc) = state.gc {
        change(&mut gc, state);
        state.gc = Some(gc);
    }
}

/// Every file that heads name.
pub(crate) fn named(head: &Head, product: &Product) -> u64 {
    head.live | head.map | head.metadata | folded(product.file)
}
