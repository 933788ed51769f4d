//! What swap is made of: what names it, and the first page of a swap file.

/// The paths of swap in `fstab`: their units come back at every boot.
pub(crate) fn in_fstab(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (what, _, kind) = (fields.next()?, fields.next()?, fields.next()?);
            (kind == "swap").then(|| device(what))
        })
        .collect()
}

fn device(what: &str) -> String {
    match what.split_once('=') {
        Some((tag, value)) if matches!(tag, "UUID" | "LABEL" | "PARTUUID" | "PARTLABEL") => {
            format!("/dev/disk/by-{}/{}", tag.to_lowercase(), value.trim_matches('"'))
        }
        _ => what.to_owned(),
    }
}

/// The first page of a swap area of so many pages, as `mkswap` writes it.
pub(crate) fn first_page(page: usize, pages: u32, uuid: [u8; 16]) -> Vec<u8> {
    const INFORMATION: usize = 1024;
    const SIGNATURE: &[u8] = b"SWAPSPACE2";
    let mut bytes = vec![0; page];
    let mut put = |at: usize, what: &[u8]| {
        if let Some(place) = bytes.get_mut(at..at + what.len()) {
            place.copy_from_slice(what);
        }
    };
    // Version, last page, how many bad ones; in the order of bytes of the machine.
    put(INFORMATION, &1_u32.to_ne_bytes());
    put(INFORMATION + 4, &pages.saturating_sub(1).to_ne_bytes());
    put(INFORMATION + 8, &0_u32.to_ne_bytes());
    put(INFORMATION + 12, &uuid);
    put(page.saturating_sub(SIGNATURE.len()), SIGNATURE);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{first_page, in_fstab};

    #[test]
    fn swap_in_fstab_is_found_by_the_device_that_it_names() {
        let text = "# UUID=old none swap sw 0 0\nUUID=ab-cd none swap sw 0 0\n/dev/vda1 / ext4 defaults 0 1\n\
                    /swap.img\tnone\tswap\tsw\t0\t0\nLABEL=\"s\" none swap\n";
        assert_eq!(in_fstab(text), ["/dev/disk/by-uuid/ab-cd", "/swap.img", "/dev/disk/by-label/s"]);
    }

    #[test]
    fn the_first_page_says_how_many_follow() {
        let page = first_page(4096, 256, [7; 16]);
        assert_eq!(page.len(), 4096);
        assert_eq!(page[1024..1028], 1_u32.to_ne_bytes());
        assert_eq!(page[1028..1032], 255_u32.to_ne_bytes());
        assert_eq!(page[1036..1052], [7; 16]);
        assert_eq!(page[4086..], *b"SWAPSPACE2");
    }
}
