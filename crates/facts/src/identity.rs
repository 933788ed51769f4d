//! Telling one machine from another by what the machine itself has.

/// What the firmware and the system say of the machine, as read; whatever cannot be read is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// `/sys/class/dmi/id/sys_vendor`
    pub vendor: String,
    /// `/sys/class/dmi/id/product_name`
    pub product: String,
    /// `/sys/class/dmi/id/product_uuid`
    pub uuid: String,
    /// `/sys/class/dmi/id/board_asset_tag`
    pub asset_tag: String,
    /// `/etc/machine-id`
    pub machine_id: String,
}

/// Who the machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What the journal is bound to.
    pub name: String,
    /// The instance's id, where the firmware tells it.
    pub instance_id: Option<String>,
    /// The instance's type, where the firmware tells it.
    pub instance_type: Option<String>,
}

/// Who the machine is. Instances of EC2 on Nitro have their id and type in the firmware; others have at least a number
/// of their own there. The number of the operating system is the last resort: it may be part of an image.
pub fn identify(firmware: &Firmware) -> Identity {
    let instance_id = Some(&firmware.asset_tag).filter(|tag| is_instance_id(tag)).cloned();
    let instance_type = Some(&firmware.product)
        .filter(|_| firmware.vendor == "Amazon EC2")
        .filter(|name| is_type(name))
        .cloned();
    let uuid = firmware.uuid.to_lowercase();
    let name = match &instance_id {
        Some(id) => id.clone(),
        None if is_a_number(&uuid) => format!("uuid:{uuid}"),
        None if is_a_number(&firmware.machine_id) => format!("machine:{}", firmware.machine_id),
        None => "unknown".to_owned(),
    };
    Identity { name, instance_id, instance_type }
}

fn is_instance_id(text: &str) -> bool {
    text.strip_prefix("i-").is_some_and(|rest| {
        matches!(rest.len(), 8 | 17) && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn is_type(text: &str) -> bool {
    text.split_once('.').is_some_and(|(family, size)| {
        let fits = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        fits(family) && fits(size)
    })
}

/// Vendors fill the field with all zeros, all `f`, or a text when they have no number.
fn is_a_number(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    digits.len() == 32
        && digits.iter().all(u8::is_ascii_hexdigit)
        && digits.iter().any(|digit| Some(digit) != digits.first())
}
