//! What a runner does: look, claim, stage, audit, plan, persist, swap, settle, confirm; and what becomes of it when
//! the answer is lost or its process dies.

use crate::config::{Config, Flaw, Job};
use crate::state::{
    ENDED_GOOD, ENDED_REFUSED, ENDED_SUPERSEDED, ENDED_TIRED, ENDED_UNKNOWN, Plan, Product, Runner, SLICES,
    Said, Stand, State, TRIES, WRONG_SUCCESS, WRONG_SUPERSEDED, data, epoch, folded, metadata, of_slice,
    piece, slices,
};

/// What becomes of a slice on one head.
enum Decision {
    Already,
    Superseded,
    Refused,
    Unchanged,
    Replace,
}

impl Config {
    fn job(&self, runner: usize) -> &Job {
        &self.jobs[self.runners[runner]]
    }

    /// Takes the next step; with it those that nobody could see apart from it, as they touch what is the runner's own.
    pub(crate) fn step(&self, state: &mut State, runner: usize) {
        match state.runners[runner].stand {
            Stand::Idle => self.look(state, runner),
            Stand::Looked => self.claim(state, runner),
            Stand::Claimed => {
                self.stage(state, runner);
                self.audit(state, runner);
            }
            Stand::Audited => {
                self.plan(state, runner);
                self.persist(state, runner);
            }
            Stand::Persisted => self.swap(state, runner),
            Stand::Half => self.second(state, runner),
            Stand::Unknown => self.look_again(state, runner),
            Stand::Settling => {
                self.settle(state, runner);
                self.confirm(state, runner);
            }
            Stand::Ending => self.confirm(state, runner),
            Stand::Done => {}
        }
    }

    fn look(&self, state: &mut State, runner: usize) {
        let job = self.job(runner);
        let own = u8::try_from(self.runners[runner]).unwrap_or(u8::MAX);
        let fresh = |slice: usize| {
            let stamp = state.head.stamp[slice];
            stamp != 0 && state.about[usize::from(stamp)].job == own
        };
        let open = slices(job.slices).filter(|slice| !fresh(*slice)).fold(0, |open, slice| open | 1 << slice);
        let expected = if job.restamps { state.head.stamp } else { [0; SLICES] };
        let at = &mut state.runners[runner];
        *at = if open == 0 {
            Runner { stand: Stand::Done, ..Runner::default() }
        } else {
            Runner { stand: Stand::Looked, open, expected, ..Runner::default() }
        };
    }

    fn claim(&self, state: &mut State, runner: usize) {
        let (job, place) = (*self.job(runner), self.runners[runner]);
        if state.attempts == self.attempts {
            state.runners[runner] = Runner { stand: Stand::Done, ended: ENDED_TIRED, ..Runner::default() };
            return;
        }
        state.written();
        state.attempts += 1;
        let attempt = state.attempts;
        let anew = self.has(Flaw::RetryNumbersAnew);
        let retry = job.keyed && state.ledger.numbers[place] != 0;
        let clock = if self.has(Flaw::NumbersWithoutClock) { 0 } else { state.clock };
        let number = if retry && !anew {
            state.ledger.numbers[place]
        } else {
            let number = state.ledger.request.max(clock) + 1;
            state.ledger.request = number;
            state.clock = state.clock.max(number);
            number
        };
        if !retry {
            state.ages += 1;
        }
        let age = if retry { state.made[place] } else { state.ages };
        if job.keyed {
            state.ledger.numbers[place] = number;
            state.made[place] = age;
        }
        state.ledger.counter += 1;
        let about = &mut state.about[usize::from(attempt)];
        about.epoch = epoch(number, state.ledger.counter);
        about.job = u8::try_from(place).unwrap_or(u8::MAX);
        about.age = age;
        let at = &mut state.runners[runner];
        at.attempt = attempt;
        at.stand = Stand::Claimed;
        for slice in slices(at.open) {
            state.ledger.said[usize::from(attempt)][slice] = Said::Open;
        }
    }

    fn stage(&self, state: &mut State, runner: usize) {
        let (job, at) = (*self.job(runner), &mut state.runners[runner]);
        for slice in slices(at.open).filter(|slice| job.rows[*slice] != 0 && !job.restamps) {
            state.files |= data(at.attempt, slice);
        }
    }

    fn audit(&self, state: &mut State, runner: usize) {
        let at = &mut state.runners[runner];
        for slice in slices(at.open).filter(|_| !self.has(Flaw::SkipsAudit)) {
            state.audited |= state.files & data(at.attempt, slice);
        }
        at.stand = Stand::Audited;
    }

    fn plan(&self, state: &mut State, runner: usize) {
        let mut at = state.runners[runner];
        let head = state.head;
        let mut plan =
            Plan { attempt: at.attempt, base: (head.at, state.product.at), head, ..Plan::default() };
        let (mut gone, mut map) = (head, head);
        if let Some((first, _)) = at.first {
            gone = if self.has(Flaw::RebaseKeepsFiles) { first } else { head };
            map = if self.has(Flaw::RebaseKeepsMap) { first } else { head };
        }
        (plan.head.map, plan.head.stamp, plan.head.fence) = (map.map, map.stamp, map.fence);
        for slice in slices(at.open) {
            let bit = 1 << slice;
            match self.decide(state, &at, runner, slice) {
                Decision::Already => {
                    at.good |= bit;
                    at.open &= !bit;
                }
                Decision::Superseded => {
                    self.superseded(state, &mut at, slice);
                    at.open &= !bit;
                }
                Decision::Refused => {
                    at.ended |= ENDED_REFUSED;
                    at.open &= !bit;
                }
                Decision::Unchanged => {
                    plan.items |= bit;
                    if !self.has(Flaw::UnchangedDoesNotFence) {
                        plan.head.fence[slice] = state.about[usize::from(at.attempt)].epoch;
                    }
                    plan.head.stamp[slice] = at.attempt;
                }
                Decision::Replace => {
                    plan.items |= bit;
                    plan.replaced |= bit;
                    let own = state.files & data(at.attempt, slice);
                    plan.head.live = plan.head.live & !(gone.live & of_slice(slice)) | own;
                    plan.head.map = plan.head.map & !of_slice(slice) | own;
                    plan.head.fence[slice] = state.about[usize::from(at.attempt)].epoch;
                    plan.head.stamp[slice] = at.attempt;
                }
            }
        }
        if plan.items == 0 {
            at.stand = Stand::Ending;
            at.first = None;
        } else {
            plan.head.metadata = metadata(at.attempt, at.tries);
            if plan.replaced != 0 {
                plan.head.n = head.high + 1;
                plan.head.high = plan.head.n;
            }
            let rows = if self.folds { self.fold(state, &at, runner, &mut plan) } else { 0 };
            if self.keeps_first() && at.first.is_none() {
                at.first = Some((head, rows));
            }
            self.halve(&head, &mut plan);
            at.plan = Some(plan);
            at.stand = Stand::Persisted;
        }
        state.runners[runner] = at;
    }

    fn keeps_first(&self) -> bool {
        [Flaw::RebaseKeepsFiles, Flaw::RebaseKeepsMap, Flaw::RebaseKeepsFold]
            .map(|flaw| self.has(flaw))
            .contains(&true)
    }

    /// Of a group commit the first slice alone, if that is the mistake.
    fn halve(&self, head: &crate::state::Head, plan: &mut Plan) {
        if self.has(Flaw::GroupPublishesHalf) && plan.items == 3 {
            let (own, other) = (of_slice(1), plan.head);
            plan.head.live = other.live & !own | head.live & own;
            plan.head.map = other.map & !own | head.map & own;
            plan.head.stamp[1] = head.stamp[1];
            plan.head.fence[1] = head.fence[1];
        }
    }

    fn decide(&self, state: &State, at: &Runner, runner: usize, slice: usize) -> Decision {
        let (head, job, own) = (&state.head, self.job(runner), of_slice(slice));
        let epoch = state.about[usize::from(at.attempt)].epoch;
        let blind = self.has(Flaw::UnknownRetries);
        if head.stamp[slice] == at.attempt && !blind {
            return Decision::Already;
        }
        let fenced = head.fence[slice] >= epoch && !(blind && head.fence[slice] == epoch);
        if fenced && !self.has(Flaw::NoFence) {
            return Decision::Superseded;
        }
        let foreign = head.live & own != head.map & own;
        if head.n < head.high && !self.has(Flaw::RollBackUnnoticed)
            || foreign && !self.has(Flaw::ForeignUnnoticed)
        {
            return Decision::Refused;
        }
        if job.restamps {
            let same = head.stamp[slice] == at.expected[slice];
            return if same { Decision::Unchanged } else { Decision::Refused };
        }
        let same = state.content(self, head.live, slice) == Some(job.rows[slice]);
        if same && !foreign { Decision::Unchanged } else { Decision::Replace }
    }

    /// A newer request is there; or clean-up took this attempt for dead, or the same request was tried again.
    fn superseded(&self, state: &mut State, at: &mut Runner, slice: usize) {
        at.ended |= ENDED_SUPERSEDED;
        let own = state.about[usize::from(at.attempt)];
        let fence = state.head.fence[slice];
        let by = state.about.iter().filter(|about| about.epoch == fence).map(|about| about.age).max();
        if by.is_some_and(|age| age < own.age) || by.is_none() {
            state.wrong |= WRONG_SUPERSEDED;
        }
        let twins = state.about.iter().filter(|about| about.epoch == fence && about.epoch == own.epoch);
        if twins.count() > 1 {
            state.wrong |= WRONG_SUPERSEDED;
        }
    }

    /// Folds the slices of a plan: keys whose greatest change may be another one now, and no other.
    fn fold(&self, state: &mut State, at: &Runner, runner: usize, plan: &mut Plan) -> u8 {
        let before = state.contents(self, plan.head.live & !of_plan(plan) | state.head.live & of_plan(plan));
        let mut after = state.contents(self, plan.head.live);
        if self.has(Flaw::FoldsOverNewer) {
            let job = self.job(runner);
            for slice in slices(job.slices).filter(|slice| at.good >> slice & 1 == 0) {
                after[slice] = job.rows[slice];
            }
        }
        if before == after && state.product.log == before {
            return 0;
        }
        let held = state.rows[usize::from(state.product.file)];
        let follows = state.product.log == before;
        let mut rows = 0;
        for key in 0..KEYS {
            let differs = (0..SLICES).any(|slice| rank(before[slice], key) != rank(after[slice], key));
            let winner = (0..SLICES).map(|slice| rank(after[slice], key)).max().unwrap_or(0);
            let kept = held >> (2 * key) & 3;
            rows |= if differs || !follows { winner } else { kept } << (2 * key);
        }
        if let (true, Some((_, first))) = (self.has(Flaw::RebaseKeepsFold), at.first) {
            rows = first;
        }
        state.rows[usize::from(at.attempt)] = rows;
        state.about[usize::from(at.attempt)].label = if plan.items & 2 != 0 { 1 } else { 0 };
        plan.product = Some(Product { at: 0, file: at.attempt, log: after });
        rows
    }

    fn persist(&self, state: &mut State, runner: usize) {
        let Some(plan) = state.runners[runner].plan else { return };
        state.files |= plan.head.metadata;
        if plan.product.is_some() {
            state.files |= folded(plan.attempt);
        }
    }

    fn stale(&self, state: &State, plan: &Plan) -> bool {
        let moved = state.head.at != plan.base.0;
        let product = plan.product.is_some() && state.product.at != plan.base.1;
        let gone = self.has(Flaw::GcUnderLock) && state.files & plan.head.metadata == 0;
        (moved || product || gone) && !self.has(Flaw::NoCompareAndSwap)
    }

    fn swap(&self, state: &mut State, runner: usize) {
        let Some(plan) = state.runners[runner].plan else { return };
        if self.has(Flaw::ReceiptFirst) {
            state.receive(&plan);
            state.runners[runner].stand = Stand::Half;
        } else if self.stale(state, &plan) {
            self.rebase(state, runner);
        } else {
            state.apply(self, &plan);
            if self.has(Flaw::FoldsInTwo) && plan.product.is_some() {
                state.runners[runner].stand = Stand::Half;
                state.receive(&plan);
                return;
            }
            state.apply_product(&plan);
            if self.has(Flaw::ReceiptAfter) {
                state.runners[runner].stand = Stand::Half;
                return;
            }
            state.receive(&plan);
            self.moved(state, runner);
        }
    }

    /// Of a flawed protocol: the second of two transactions.
    fn second(&self, state: &mut State, runner: usize) {
        let Some(plan) = state.runners[runner].plan else { return };
        if self.has(Flaw::ReceiptFirst) {
            if self.stale(state, &plan) {
                return self.rebase(state, runner);
            }
            state.apply(self, &plan);
            state.apply_product(&plan);
        } else if self.has(Flaw::FoldsInTwo) {
            state.apply_product(&plan);
        } else {
            state.receive(&plan);
        }
        self.moved(state, runner);
    }

    fn rebase(&self, state: &mut State, runner: usize) {
        self.withdraw(state, runner);
        let at = &mut state.runners[runner];
        at.tries += 1;
        at.plan = None;
        let tired = usize::from(at.tries) == TRIES;
        at.ended |= if tired { ENDED_REFUSED } else { 0 };
        at.stand = if tired { Stand::Ending } else { Stand::Audited };
    }

    /// What a commit wrote that did not happen; staged rows stay.
    fn withdraw(&self, state: &mut State, runner: usize) {
        let Some(plan) = state.runners[runner].plan else { return };
        state.files &= !plan.head.metadata;
        if plan.product.is_some() {
            state.files &= !folded(plan.attempt);
        }
    }

    /// Every pointer moved.
    fn moved(&self, state: &mut State, runner: usize) {
        let at = &mut state.runners[runner];
        at.stand = Stand::Settling;
        if let Some(plan) = at.plan {
            at.good |= plan.items;
            at.open &= !plan.items;
        }
    }

    /// The transaction takes effect and its answer is lost.
    pub(crate) fn swap_answer_lost(&self, state: &mut State, runner: usize) {
        if let Some(plan) = state.runners[runner].plan {
            state.apply(self, &plan);
            state.apply_product(&plan);
            state.receive(&plan);
            state.runners[runner].stand = Stand::Unknown;
        }
    }

    /// Whether its transaction would take effect.
    pub(crate) fn can_swap(&self, state: &State, runner: usize) -> bool {
        let at = &state.runners[runner];
        at.stand == Stand::Persisted && at.plan.is_some_and(|plan| !self.stale(state, &plan))
    }

    fn look_again(&self, state: &mut State, runner: usize) {
        let Some(plan) = state.runners[runner].plan else { return };
        if !self.has(Flaw::UnknownIsFailedUnmoved) {
            // Another transaction first: after it, that of the lost answer is in, or gone for good.
            state.written();
        }
        if self.has(Flaw::UnknownRetries) {
            return self.rebase(state, runner);
        }
        let there = slices(plan.items).any(|slice| state.head.stamp[slice] == plan.attempt);
        if self.has(Flaw::UnknownIsFailed) {
            self.withdraw(state, runner);
            state.runners[runner].stand = Stand::Ending;
        } else if state.head.metadata == plan.head.metadata || there && state.head.at != plan.base.0 {
            self.moved(state, runner);
        } else if state.head.at == plan.base.0 {
            self.withdraw(state, runner);
            let at = &mut state.runners[runner];
            at.ended |= ENDED_REFUSED;
            at.stand = Stand::Ending;
        } else {
            let good = state.runners[runner].good;
            state.runners[runner] =
                Runner { stand: Stand::Done, ended: ENDED_UNKNOWN, good, ..Runner::default() };
        }
    }

    fn settle(&self, state: &mut State, runner: usize) {
        let Some(plan) = state.runners[runner].plan.take() else { return };
        for slice in slices(plan.items & !plan.replaced) {
            state.files &= !data(plan.attempt, slice);
        }
    }

    fn confirm(&self, state: &mut State, runner: usize) {
        let at = state.runners[runner];
        let claimed =
            slices(3).filter(|slice| state.ledger.said[usize::from(at.attempt)][*slice] != Said::Nothing);
        let bad: Vec<usize> = claimed.filter(|slice| at.good >> slice & 1 == 0).collect();
        for slice in &bad {
            state.written();
            state.end(self, at.attempt, *slice, Said::Failed);
            state.files &= !data(at.attempt, *slice);
        }
        if slices(at.good).any(|slice| state.ever & piece(at.attempt, slice) == 0) {
            state.wrong |= WRONG_SUCCESS;
        }
        let ended = at.ended | if at.good != 0 { ENDED_GOOD } else { 0 };
        state.runners[runner] = Runner { stand: Stand::Done, ended, ..Runner::default() };
    }
}

/// Keys of the folded table.
const KEYS: usize = 2;

/// The rank of a key's change in rows of that number.
fn rank(rows: u8, key: usize) -> u8 {
    const RANKS: [[u8; KEYS]; 6] = [[0, 0], [1, 1], [2, 0], [3, 2], [1, 3], [0, 1]];
    RANKS.get(usize::from(rows)).map_or(0, |ranks| ranks[key])
}

/// The rows that a folded table must hold.
pub(crate) fn folded_rows(contents: [u8; SLICES]) -> u8 {
    let winner = |key: usize| contents.iter().map(|rows| rank(*rows, key)).max().unwrap_or(0);
    (0..KEYS).fold(0, |rows, key| rows | winner(key) << (2 * key))
}

/// All files of the slices that a plan replaces.
fn of_plan(plan: &Plan) -> u64 {
    slices(plan.replaced).fold(0, |files, slice| files | of_slice(slice))
}
