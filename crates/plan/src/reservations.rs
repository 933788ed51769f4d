//! What a node keeps for kubelet and the runtime. Used here and on the node.

/// Disk kept for kubelet and the runtime.
pub const EPHEMERAL_STORAGE: &str = "1Gi";

/// Memory kept, in MiB: 11 for each pod that may really run, and 255.
pub fn memory_mib(max_pods: u32) -> u64 {
    u64::from(max_pods).saturating_mul(11).saturating_add(255)
}

/// Processor time kept, in thousandths of a core: 6 % of the first core, 1 % of the second, 0.5 % of the next two and
/// 0.25 % of all others.
pub fn cpu_millicores(cores: u32) -> u64 {
    let band = |from: u32, to: u32, basis_points: u64| {
        let thousandths = u64::from(cores.min(to).saturating_sub(from)).saturating_mul(1000);
        thousandths.saturating_mul(basis_points) / 10_000
    };
    band(0, 1, 600) + band(1, 2, 100) + band(2, 4, 50) + band(4, u32::MAX, 25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_follows_the_pods() {
        for (pods, mib) in [(29, 574), (58, 893), (110, 1465), (234, 2829), (737, 8362)] {
            assert_eq!(memory_mib(pods), mib, "{pods} pods");
        }
    }

    #[test]
    fn processor_time_follows_the_cores() {
        for (cores, millicores) in
            [(0, 0), (1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (32, 150), (64, 230), (96, 310)]
        {
            assert_eq!(cpu_millicores(cores), millicores, "{cores} cores");
        }
    }
}
