//! Where in a project's files the settings and output columns of a model are written, for whoever finds later what is
//! wrong with them. Knows nothing of what they mean.

use oncemore_core::Location;

use crate::decode::Fields;
use crate::yaml::{Data, Node};

/// Places in a model's file, or in the file that holds the defaults of its folder.
#[derive(Clone, Debug, Default)]
pub struct Places {
    settings: Vec<Setting>,
    audits: Vec<Location>,
    outputs: Vec<(String, Location)>,
}

/// One value of a setting, as it is written.
#[derive(Clone, Debug)]
struct Setting {
    key: String,
    value: String,
    location: Location,
}

impl Places {
    /// Every value of these settings.
    pub(crate) fn of(fields: &Fields<'_, '_>) -> Places {
        let mut places = Places::default();
        for (key, _, node) in fields.iter() {
            places.add(key, node);
        }
        if let Some(Data::List(nodes)) = fields.get("audits").map(|node| &node.data) {
            places.audits = nodes.iter().map(Node::location).collect();
        }
        places
    }

    fn add(&mut self, key: &str, node: &Node<'_>) {
        match &node.data {
            Data::Scalar(value, _) => self.settings.push(Setting {
                key: key.to_owned(),
                value: value.clone().into_owned(),
                location: node.location(),
            }),
            Data::List(nodes) => nodes.iter().for_each(|node| self.add(key, node)),
            Data::Map(entries) => entries.iter().for_each(|(_, node)| self.add(key, node)),
        }
    }

    /// The same with the output columns that the query names.
    #[must_use]
    pub(crate) fn with_outputs(self, outputs: Vec<(String, Location)>) -> Places {
        Places { outputs, ..self }
    }

    /// Where `value` is written in the setting `key`, or in one below it; the first value of that setting, where it is not.
    pub fn setting(&self, key: &str, value: &str) -> Option<&Location> {
        let mut own = self.settings.iter().filter(|setting| setting.key == key);
        let first = own.clone().next();
        own.find(|setting| setting.value == value).or(first).map(|setting| &setting.location)
    }

    /// Where `value` is written in the audit number `at`, from 0; all of that audit, where it is not.
    pub fn audit(&self, at: usize, value: Option<&str>) -> Option<&Location> {
        let all = self.audits.get(at)?;
        let inside = |location: &Location| {
            location.path == all.path && all.start <= location.start && location.end <= all.end
        };
        let own = self.settings.iter().filter(|setting| inside(&setting.location));
        let found = own
            .map(|setting| (&setting.value, &setting.location))
            .find(|(own, _)| Some(own.as_str()) == value);
        Some(found.map_or(all, |(_, location)| location))
    }

    /// Where the query names an output column; `None` where it comes by `*`, or has no name of its own.
    pub fn output(&self, column: &str) -> Option<&Location> {
        self.outputs.iter().rev().find(|(name, _)| name == column).map(|(_, location)| location)
    }
}
