//! Accelerators of EC2's instance types, by the names of their families.

/// Who made the accelerators of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// There are none that an image of its own is made for.
    None,
    /// NVIDIA.
    Nvidia,
    /// AWS itself.
    Neuron,
}

impl Accelerator {
    /// Of an instance type. The families `g`, `gr` and `p` have NVIDIA's, but for `g4ad`, whose are AMD's.
    pub fn of(instance_type: &str) -> Self {
        let family = instance_type.split('.').next().unwrap_or_default();
        let digit = family.find(|letter: char| letter.is_ascii_digit()).unwrap_or_default();
        match family.split_at(digit) {
            ("g", "4ad") => Self::None,
            ("g" | "gr" | "p", _) => Self::Nvidia,
            ("inf" | "trn", _) => Self::Neuron,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Accelerator;

    #[test]
    fn families_tell_who_made_their_accelerators() {
        let nvidia = ["g3s.xlarge", "g4dn.xlarge", "g5.2xlarge", "g5g.xlarge", "g6e.8xlarge", "g6f.large"];
        for name in nvidia.into_iter().chain(["gr6.4xlarge", "p4d.24xlarge", "p6-b200.48xlarge"]) {
            assert_eq!(Accelerator::of(name), Accelerator::Nvidia, "{name}");
        }
        for name in ["inf2.xlarge", "trn1n.32xlarge", "trn2.3xlarge"] {
            assert_eq!(Accelerator::of(name), Accelerator::Neuron, "{name}");
        }
        for name in ["g4ad.xlarge", "m5.large", "c6g.large", "dl1.24xlarge", "", "g", "p", "."] {
            assert_eq!(Accelerator::of(name), Accelerator::None, "{name}");
        }
    }
}
