//! What AWS calls things by region: partitions, domains, endpoints and the registry accounts of EKS.

/// A partition of AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name, as in ARNs.
    pub name: &'static str,
    /// The domain of its services.
    pub domain: &'static str,
    /// How its regions' names begin; empty for the rest.
    prefix: &'static str,
    /// The account of regions that have none of their own.
    account: &'static str,
    /// The region whose registry serves regions that are not known.
    home: &'static str,
    /// Patterns of its private registries.
    registries: &'static [&'static str],
}

/// The one without a prefix comes last.
const PARTITIONS: [Partition; 8] = [
    Partition {
        name: "aws-cn",
        domain: "amazonaws.com.cn",
        prefix: "cn-",
        account: "961992271922",
        home: "cn-northwest-1",
        registries: &["*.dkr.ecr.*.amazonaws.com.cn", "*.dkr-ecr.*.on.amazonwebservices.com.cn"],
    },
    Partition {
        name: "aws-us-gov",
        domain: "amazonaws.com",
        prefix: "us-gov-",
        account: "013241004608",
        home: "us-gov-west-1",
        registries: COMMERCIAL,
    },
    Partition {
        name: "aws-iso",
        domain: "c2s.ic.gov",
        prefix: "us-iso-",
        account: "725322719131",
        home: "us-iso-east-1",
        registries: &["*.dkr.ecr.*.c2s.ic.gov"],
    },
    Partition {
        name: "aws-iso-b",
        domain: "sc2s.sgov.gov",
        prefix: "us-isob-",
        account: "187977181151",
        home: "us-isob-east-1",
        registries: &["*.dkr.ecr.*.sc2s.sgov.gov"],
    },
    Partition {
        name: "aws-iso-e",
        domain: "cloud.adc-e.uk",
        prefix: "eu-isoe-",
        account: "249663109785",
        home: "eu-isoe-west-1",
        registries: &["*.dkr.ecr.*.cloud.adc-e.uk"],
    },
    Partition {
        name: "aws-iso-f",
        domain: "csp.hci.ic.gov",
        prefix: "us-isof-",
        account: "676585237158",
        home: "us-isof-south-1",
        registries: &["*.dkr.ecr.*.csp.hci.ic.gov"],
    },
    Partition {
        name: "aws-eusc",
        domain: "amazonaws.eu",
        prefix: "eusc-",
        account: "877088126301",
        home: "eusc-de-east-1",
        registries: &["*.dkr.ecr.*.amazonaws.eu"],
    },
    Partition {
        name: "aws",
        domain: "amazonaws.com",
        prefix: "",
        account: "602401143452",
        home: "us-west-2",
        registries: COMMERCIAL,
    },
];

const COMMERCIAL: &[&str] = &[
    "*.dkr.ecr.*.amazonaws.com",
    "*.dkr-ecr.*.on.aws",
    "*.dkr.ecr-fips.*.amazonaws.com",
    "*.dkr-ecr-fips.*.on.aws",
];

/// Regions whose registry account is not their partition's.
const ACCOUNTS: [(&str, &str); 22] = [
    ("af-south-1", "877085696533"),
    ("ap-east-1", "800184023465"),
    ("ap-east-2", "533267051163"),
    ("ap-south-2", "900889452093"),
    ("ap-southeast-3", "296578399912"),
    ("ap-southeast-4", "491585149902"),
    ("ap-southeast-5", "151610086707"),
    ("ap-southeast-6", "333609536671"),
    ("ap-southeast-7", "121268973566"),
    ("ca-west-1", "761377655185"),
    ("cn-north-1", "918309763551"),
    ("eu-central-2", "900612956339"),
    ("eu-south-1", "590381155156"),
    ("eu-south-2", "455263428931"),
    ("il-central-1", "066635153087"),
    ("me-central-1", "759879836304"),
    ("me-south-1", "558608220178"),
    ("mx-central-1", "730335286997"),
    ("us-gov-east-1", "151742754352"),
    ("us-iso-west-1", "608367168043"),
    ("us-isob-west-1", "321162350305"),
    ("us-isof-east-1", "171035529773"),
];

/// The partition that a region belongs to.
pub fn partition_of(region: &str) -> &'static Partition {
    PARTITIONS.iter().find(|partition| region.starts_with(partition.prefix)).unwrap_or(&PARTITIONS[7])
}

/// The partition of this name.
pub fn partition_named(name: &str) -> Option<&'static Partition> {
    PARTITIONS.iter().find(|partition| partition.name == name)
}

/// The names of all partitions.
pub fn partition_names() -> impl Iterator<Item = &'static str> {
    PARTITIONS.iter().map(|partition| partition.name)
}

/// The host of a service in a region.
pub fn endpoint(service: &str, region: &str) -> String {
    format!("{service}.{region}.{}", partition_of(region).domain)
}

/// Whether a text has the shape of a region's name: `eu-central-1`, `us-gov-west-1`.
pub fn looks_like_region(region: &str) -> bool {
    let parts: Vec<&str> = region.split('-').collect();
    let word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    match parts.split_last() {
        Some((number, words)) => {
            words.len() >= 2
                && words.iter().all(word)
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        None => false,
    }
}

/// Regions without a registry account of their own; the others are in [`ACCOUNTS`].
const REGIONS: [&str; 24] = [
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ca-central-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-isoe-west-1",
    "eu-north-1",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eusc-de-east-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-gov-west-1",
    "us-iso-east-1",
    "us-isob-east-1",
    "us-isof-south-1",
    "us-west-1",
    "us-west-2",
];

/// Every region that is known. New ones appear every year.
pub fn regions() -> impl Iterator<Item = &'static str> {
    REGIONS.iter().copied().chain(ACCOUNTS.iter().map(|(region, _)| *region))
}

/// The account of EKS' own images in a region.
pub fn registry_account(region: &str) -> &'static str {
    ACCOUNTS
        .iter()
        .find(|(name, _)| *name == region)
        .map_or_else(|| partition_of(region).account, |(_, account)| account)
}

/// The account of EKS' own images and the region of their registry, for the machines of a region: one that is not known is
/// served by another one of its partition.
pub fn registry_home(region: &str) -> (&'static str, &str) {
    if regions().any(|known| known == region) {
        return (registry_account(region), region);
    }
    let partition = partition_of(region);
    (partition.account, partition.home)
}

impl Partition {
    /// Patterns of images that ECR's credential provider answers for. It knows the newer name of the public registry
    /// since 1.32.
    pub fn match_images(&self, minor: u16) -> Vec<&'static str> {
        let mut patterns = self.registries.to_vec();
        if matches!(self.name, "aws" | "aws-us-gov" | "aws-eusc") {
            patterns.push("public.ecr.aws");
            if minor >= 32 {
                patterns.push("ecr-public.aws.com");
            }
        }
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_find_their_partition() {
        for (region, name) in [
            ("eu-central-1", "aws"),
            ("eusc-de-east-1", "aws-eusc"),
            ("cn-north-1", "aws-cn"),
            ("us-gov-east-1", "aws-us-gov"),
            ("us-iso-east-1", "aws-iso"),
            ("us-isob-east-1", "aws-iso-b"),
            ("us-isof-south-1", "aws-iso-f"),
            ("eu-isoe-west-1", "aws-iso-e"),
        ] {
            assert_eq!(partition_of(region).name, name, "{region}");
        }
    }

    /// As botocore 1.44.0 resolves them, but for `s3` in `us-east-1`, where it takes the old global name.
    #[test]
    fn endpoints_follow_the_partition() {
        for (service, region, host) in [
            ("sts", "us-east-1", "sts.us-east-1.amazonaws.com"),
            ("s3", "us-east-1", "s3.us-east-1.amazonaws.com"),
            ("ssm", "eu-central-1", "ssm.eu-central-1.amazonaws.com"),
            ("sts", "cn-north-1", "sts.cn-north-1.amazonaws.com.cn"),
            ("cloudformation", "us-gov-west-1", "cloudformation.us-gov-west-1.amazonaws.com"),
            ("autoscaling", "us-iso-east-1", "autoscaling.us-iso-east-1.c2s.ic.gov"),
            ("secretsmanager", "us-isob-east-1", "secretsmanager.us-isob-east-1.sc2s.sgov.gov"),
            ("sts", "eu-isoe-west-1", "sts.eu-isoe-west-1.cloud.adc-e.uk"),
            ("sts", "us-isof-south-1", "sts.us-isof-south-1.csp.hci.ic.gov"),
            ("s3", "eusc-de-east-1", "s3.eusc-de-east-1.amazonaws.eu"),
        ] {
            assert_eq!(endpoint(service, region), host);
        }
    }

    #[test]
    fn accounts_are_the_published_ones() {
        for (region, account) in [
            ("us-west-2", "602401143452"),
            ("eu-central-1", "602401143452"),
            ("ap-east-1", "800184023465"),
            ("cn-north-1", "918309763551"),
            ("cn-northwest-1", "961992271922"),
            ("us-gov-west-1", "013241004608"),
            ("us-gov-east-1", "151742754352"),
            ("us-iso-east-1", "725322719131"),
            ("il-central-1", "066635153087"),
        ] {
            assert_eq!(registry_account(region), account, "{region}");
        }
    }

    /// As the script of EKS' images looks them up.
    #[test]
    fn a_region_that_is_not_known_is_served_by_another() {
        for (region, account, home) in [
            ("eu-south-1", "590381155156", "eu-south-1"),
            ("us-gov-central-9", "013241004608", "us-gov-west-1"),
            ("cn-south-9", "961992271922", "cn-northwest-1"),
            ("eu-isoe-east-9", "249663109785", "eu-isoe-west-1"),
            ("mars-west-1", "602401143452", "us-west-2"),
        ] {
            assert_eq!(registry_home(region), (account, home), "{region}");
        }
    }

    #[test]
    fn a_region_has_a_shape() {
        for region in ["eu-central-1", "us-gov-west-1", "ap-southeast-10"] {
            assert!(looks_like_region(region), "{region}");
        }
        for region in ["eu-central-1a", "europe", "us_east_1", "", "eu-1", "eu--1"] {
            assert!(!looks_like_region(region), "{region}");
        }
    }

    #[test]
    fn the_public_registry_has_two_names_since_1_32() {
        assert!(partition_of("eu-west-1").match_images(32).contains(&"ecr-public.aws.com"));
        assert!(!partition_of("eu-west-1").match_images(31).contains(&"ecr-public.aws.com"));
        assert!(!partition_of("cn-north-1").match_images(33).contains(&"public.ecr.aws"));
    }
}
