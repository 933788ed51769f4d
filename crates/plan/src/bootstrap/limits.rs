//! How many pods, and which registry: what the script looks up in tables of the image.

use bringup_aws::partition;

use super::Call;
use crate::{PodLimit, max_pods};

impl Call<'_> {
    /// The row of the image's table; else what follows from the type's interfaces, which is what EC2 would be asked for.
    pub(super) fn max_pods(&mut self) -> u32 {
        let name = self.instance.instance_type.clone();
        let limit = PodLimit::Interfaces { prefix_delegation: false, custom_networking: false, cap: None };
        let ours =
            max_pods::interfaces(&name).map(|_| max_pods::max_pods(&limit, &name, self.instance.cores));
        let row = self.image.max_pods.as_deref().and_then(|table| row(table, &name));
        match (row, ours) {
            (Some(row), Some(ours)) if row != ours => {
                let message = format!("the image says that `{name}` takes {row} pods");
                self.differs(message, format!("its interfaces have addresses for {ours}"));
                row
            }
            (Some(row), _) => row,
            (None, Some(ours)) => ours,
            (None, None) => {
                let message = format!(
                    "`{name}` is in no table: kubelet is told {} pods, where the script would ask EC2",
                    max_pods::DEFAULT
                );
                self.differs(
                    message,
                    "give `--use-max-pods false` and `--max-pods` among kubelet's arguments",
                );
                max_pods::DEFAULT
            }
        }
    }

    /// The image of the pause container, in the registry of the region or of another one in its partition.
    pub(super) fn pause_container(&self) -> String {
        let region = self.instance.region.as_str();
        let domain = partition::partition_of(region).domain;
        let (account, region) = match self.request.pause_account.as_deref() {
            Some(account) => (account, region),
            None => partition::registry_home(region),
        };
        let service = if self.image.fips_registry { "ecr-fips" } else { "ecr" };
        format!("{account}.dkr.{service}.{region}.{domain}/eks/pause:{}", self.request.pause_version)
    }
}

/// `TYPE PODS` on a line of its own, comments apart.
fn row(table: &str, name: &str) -> Option<u32> {
    table.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == name).then(|| words.next()?.parse().ok()).flatten()
    })
}
