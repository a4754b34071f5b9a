//! The first changes of a log, each unit of its folded tables a file of its own, and written side by side: as long as the
//! log holds nothing else, such a file is that of the table as well.

use super::file::{Pages, chunks, write_all};
use super::{Files, Plan, SliceWriter, stored};
use crate::error::Result;
use crate::fold::store::{Buckets, Unit};
use crate::fold::{Found, Portion, Reduced, Winners};
use crate::parallel;
use crate::rows::{RowHasher, RowsPrint};

/// A unit written: what its changes are, their print, its files.
struct Done {
    found: Found,
    print: RowsPrint,
    files: Files,
}

/// What the writing of each unit takes.
struct Cut<'a> {
    plan: &'a Plan,
    hasher: &'a RowHasher,
    key: &'a [String],
    units: Buckets,
}

impl SliceWriter {
    /// Writes all of `reduced`, cut into `units`.
    pub(super) fn write_units(
        &mut self,
        reduced: &mut Reduced,
        key: &[String],
        units: Buckets,
    ) -> Result<()> {
        let cut = Cut { plan: &self.plan, hasher: &self.hasher, key, units };
        let portions = reduced.portions(units)?;
        let written = parallel::map(&portions, |portion| cut.write(reduced, portion))?;
        for mut done in written.into_iter().flatten() {
            reduced.note(&done.found);
            self.print.merge(&done.print);
            self.done.list.append(&mut done.files.list);
        }
        Ok(())
    }
}

impl Cut<'_> {
    /// Writes the changes of a portion that count.
    fn write(&self, reduced: &Reduced, portion: &Portion) -> Result<Vec<Done>> {
        let winners = reduced.winners(portion, self.units)?;
        winners.into_iter().map(|(unit, winners)| self.write_unit(unit, winners)).collect()
    }

    fn write_unit(&self, unit: Unit, winners: Winners) -> Result<Done> {
        let plan = self.plan;
        let rows = stored(&winners.rows, &plan.stored, &plan.table)?;
        let mut print = RowsPrint::new(self.hasher);
        print.add_batch(self.hasher, &rows);
        let pages = Pages::ByKey(self.key, winners.buckets);
        let next = |number| plan.open(&format!("{}-{number}", unit.name(false)), pages);
        let chunks = chunks(&rows).map(|chunk| plan.to_file(&chunk));
        let files = write_all(&plan.disk, chunks, next, plan.about())?;
        Ok(Done { found: winners.found, print, files })
    }
}
