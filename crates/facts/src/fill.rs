//! Actions with facts filled in.

use std::collections::BTreeMap;

use bringup_plan::{Action, Content, InstallChoice};
use bringup_spec::{Fact, Segment, Text};

use crate::{FactFault, Known, word};

impl Known<'_> {
    /// A text with its facts filled in.
    pub fn text(&self, text: &Text) -> Result<String, FactFault> {
        self.fill(text, |value| value)
    }

    fn fill(&self, text: &Text, form: impl Fn(String) -> String) -> Result<String, FactFault> {
        let mut filled = String::new();
        for segment in text.segments() {
            match segment {
                Segment::Literal(literal) => filled.push_str(literal),
                Segment::Fact { fact } => filled.push_str(&form(self.value(fact)?)),
            }
        }
        Ok(filled)
    }

    /// An action with all of its facts filled in, so that it says exactly what is done on this machine.
    pub fn action(&self, action: &Action) -> Result<Action, FactFault> {
        let literal = |text: &Text| self.text(text).map(Text::literal);
        let mut filled = action.clone();
        match &mut filled {
            Action::WriteFile { content, .. } => *content = self.content(content)?,
            Action::Run { command, environment, .. } => {
                for argument in command {
                    *argument = literal(argument)?;
                }
                fill_values(environment, |text| self.text(text))?;
            }
            // Systemd splits these at white space: a fact stays one word, or a part of one.
            Action::OpenGate { environment, .. } => {
                fill_values(environment, |text| self.fill(text, |value| word(&value)))?;
            }
            Action::Install { software, version, source, choices, .. } if !choices.is_empty() => {
                let chosen = self.choice(software, choices)?;
                (*version, *source) = (Some(chosen.version.clone()), chosen.source.clone());
                choices.clear();
            }
            Action::Signal { target, .. } => fill_values(target, |text| self.text(text))?,
            Action::StartKubelet { snap: Some(snap), .. } => {
                fill_values(&mut snap.settings, |text| self.text(text))?;
            }
            _ => {}
        }
        Ok(filled)
    }

    /// What goes with the cluster's version.
    fn choice<'c>(
        &self,
        software: &str,
        choices: &'c [InstallChoice],
    ) -> Result<&'c InstallChoice, FactFault> {
        let tag = self.value(&Fact::KubernetesTag)?;
        let minor = tag.trim_start_matches('v').split('.').nth(1).and_then(|minor| minor.parse().ok());
        let fitting = choices.iter().find(|choice| minor.is_some_and(|minor| choice.kubernetes.has(minor)));
        fitting.ok_or_else(|| FactFault::NoChoice { software: software.to_owned(), tag })
    }

    fn content(&self, content: &Content) -> Result<Content, FactFault> {
        Ok(match content {
            Content::Text(text) => Content::Text(Text::literal(self.text(text)?)),
            Content::Pieces(pieces) => {
                Content::Pieces(pieces.iter().map(|piece| self.content(piece)).collect::<Result<_, _>>()?)
            }
            Content::Merged { otherwise, over } => Content::Merged {
                otherwise: Text::literal(self.text(otherwise)?),
                over: over.iter().map(|text| self.text(text).map(Text::literal)).collect::<Result<_, _>>()?,
            },
            Content::Base64(_) | Content::Secret(_) | Content::PodTable(_) => content.clone(),
        })
    }
}

fn fill_values(
    values: &mut BTreeMap<String, Text>,
    fill: impl Fn(&Text) -> Result<String, FactFault>,
) -> Result<(), FactFault> {
    for value in values.values_mut() {
        *value = Text::literal(fill(value)?);
    }
    Ok(())
}
