//! The power goes at every call, and the agent is killed there: no runtime ever finds a part of the old data.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bringup_disk::{Disk as _, Files, Loss, Owner, RealDisk, SimulatedDisk, Wanted};
use bringup_progress::{Failure, FailureKind};

use super::{Removal, give_back, hand_over, mount_points, needs_reboot, note, noted, remove_old, take_back};
use crate::actions::Stopped;
use crate::kept;

const DATA: &str = "/var/lib/containerd";
const PROGRAM: &str = "/opt/containerd";
const OLD: [&str; 3] = ["meta.db", "snapshots", "io"];

fn put(files: Files<'_>, path: &str, content: &str) -> Result<(), Stopped> {
    let wanted = Wanted { content: content.as_bytes(), mode: 0o644, owner: Owner::ROOT };
    Ok(files.replace(Path::new(path), wanted).map(|_| ())?)
}

/// A machine whose runtime has worked for a while.
fn machine() -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let files = Files::on(&disk);
    for (path, content) in [
        (PROGRAM, "1.7.20"),
        ("/etc/passwd", "root"),
        ("/var/lib/containerd/meta.db", "old"),
        ("/var/lib/containerd/snapshots/1/fs/bin", "old"),
        ("/var/lib/containerd/io/x", "old"),
    ] {
        put(files, path, content).unwrap();
    }
    files.make_link(Path::new("/var/lib/containerd/snapshots/etc"), Path::new("/etc")).unwrap();
    disk.after_cut(Loss::Nothing)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

/// What the agent does between two reboots; whether it asks for one.
fn up(files: Files<'_>, boot: u32) -> Result<bool, Stopped> {
    let data = Path::new(DATA);
    let version = || Ok(files.read(Path::new(PROGRAM))?.map(|bytes| String::from_utf8(bytes).unwrap()));
    note::<Stopped>(files, "containerd", data, version)?;
    put(files, PROGRAM, "2.1.4")?;
    hand_over::<Stopped>(files, ("containerd", "2.1.4"), data, &boot.to_string(), || Ok(()))?;
    if needs_reboot(files, &boot.to_string()) {
        return Ok(true);
    }
    assert_eq!(remove_old(files, data, &[], soon())?, Removal::Done);
    Ok(false)
}

/// The runtime starts with the machine, before the agent does, and writes.
fn start(files: Files<'_>) -> Result<(), Stopped> {
    whole_or_gone(files);
    let version = String::from_utf8(files.read(Path::new(PROGRAM))?.unwrap()).unwrap();
    put(files, &format!("{DATA}/by-{version}"), &version)
}

fn whole_or_gone(files: Files<'_>) {
    let found = OLD.map(|name| files.disk().look(&Path::new(DATA).join(name)).unwrap().is_some());
    assert!(found == [true; 3] || found == [false; 3], "a part of the old data: {found:?}");
}

/// From one boot on until the agent asks for no further reboot; how many there were.
fn life(files: Files<'_>, first: u32) -> Result<u32, Stopped> {
    let mut boot = first;
    while up(files, boot)? {
        boot += 1;
        assert!(boot < first + 3, "it reboots for ever");
        start(files)?;
    }
    Ok(boot - first)
}

fn is_clean(disk: &SimulatedDisk) {
    let files = Files::on(disk);
    let data = noted(files).unwrap().unwrap();
    assert_eq!((data.software.as_str(), data.version.as_deref()), ("containerd", Some("2.1.4")));
    let all = disk.contents();
    let of_old = |path: &Path| {
        OLD.iter().any(|name| path.ends_with(name))
            || path.ends_with("by-1.7.20")
            || path.to_string_lossy().contains(".bringup-old")
    };
    let left: Vec<&PathBuf> = all.iter().map(|(path, _)| path).filter(|path| of_old(path)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(files.read(Path::new("/etc/passwd")).unwrap().as_deref(), Some(b"root".as_slice()));
}

#[test]
fn another_version_finds_nothing_of_the_old_ones_data_wherever_the_power_goes() {
    for loss in [Loss::Everything, Loss::Content, Loss::Nothing] {
        let mut cuts = 0;
        loop {
            let disk = machine();
            cuts += 1;
            disk.cut_at(disk.calls() + cuts);
            if life(Files::on(&disk), 1).is_ok() {
                is_clean(&disk);
                break;
            }
            let disk = disk.after_cut(loss);
            let files = Files::on(&disk);
            start(files).unwrap();
            assert!(life(files, 9).unwrap() <= 1, "cut {cuts}, {loss:?}");
            is_clean(&disk);
        }
        assert!(cuts > 30, "only {cuts} calls");
    }
}

#[test]
fn an_agent_that_is_killed_does_not_forget_the_reboot() {
    for cuts in 1.. {
        let disk = machine();
        disk.cut_at(disk.calls() + cuts);
        let ended = up(Files::on(&disk), 1);
        let disk = disk.after_cut(Loss::Nothing);
        whole_or_gone(Files::on(&disk));
        assert_eq!(life(Files::on(&disk), 1).unwrap(), 1, "killed at {cuts}");
        is_clean(&disk);
        if ended.is_ok() {
            assert!(cuts > 10, "only {cuts} calls");
            return;
        }
    }
}

#[test]
fn the_same_version_keeps_its_data_and_an_empty_directory_needs_no_reboot() {
    let disk = machine();
    let files = Files::on(&disk);
    put(files, PROGRAM, "2.1.4").unwrap();
    assert!(!up(files, 1).unwrap());
    assert!(files.read(Path::new("/var/lib/containerd/meta.db")).unwrap().is_some());
    let disk = SimulatedDisk::new();
    let files = Files::on(&disk);
    put(files, PROGRAM, "1.7.20").unwrap();
    put(files, "/var/lib/containerd/lost+found", "").unwrap();
    assert!(!up(files, 1).unwrap());
    // What it writes now is its own.
    start(files).unwrap();
    assert!(!up(files, 2).unwrap());
    assert!(files.read(Path::new("/var/lib/containerd/by-2.1.4")).unwrap().is_some());
}

/// The version that is there, if any.
fn program(files: Files<'_>) -> Option<String> {
    files.read(Path::new(PROGRAM)).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
}

/// A runtime that starts finds what it wrote itself, and nothing else.
fn start_pure(files: Files<'_>) {
    let Some(version) = program(files) else { return };
    let found = files.disk().list(Path::new(DATA)).unwrap_or_default();
    let own = format!("by-{version}");
    assert!(found.iter().all(|name| name == own.as_str()), "{version} finds {found:?}");
    put(files, &format!("{DATA}/{own}"), &version).unwrap();
}

/// The new version has taken over, its data is there, and the old version is kept; kubelet is not healthy.
fn taken_over() -> SimulatedDisk {
    let disk = machine();
    let files = Files::on(&disk);
    files.disk().rename(Path::new(PROGRAM), &kept::old(Path::new(PROGRAM))).unwrap();
    put(files, PROGRAM, "1.7.20").unwrap();
    assert_eq!(life(files, 1).unwrap(), 1);
    start_pure(files);
    disk.after_cut(Loss::Nothing)
}

/// What the agent does when the new version has failed.
fn way_back(files: Files<'_>, boot: &str) -> Result<(), Stopped> {
    let path = Path::new(PROGRAM);
    let failure = Failure::new(FailureKind::Transient, "kubelet is not healthy", "");
    let failure = kept::interrupted(files, &[path.to_owned()]).unwrap_or(failure);
    if kept::has_old(files, &[path.to_owned()]) {
        let taken = take_back::<Stopped>(files, "containerd", boot, || Ok(()))?;
        kept::take_back(files, path, &failure)?;
        if taken {
            give_back(files, program(files))?;
        }
    }
    Ok(())
}

/// The old version does not see the new one's data when it comes back, nor the new one that of the old when somebody puts
/// it back in its place, wherever the power goes.
#[test]
fn no_version_finds_the_data_of_another_after_a_way_back() {
    for loss in [Loss::Everything, Loss::Content, Loss::Nothing] {
        let mut cuts = 0;
        loop {
            let mut disk = taken_over();
            cuts += 1;
            disk.cut_at(disk.calls() + cuts);
            let through = way_back(Files::on(&disk), "5").is_ok();
            disk = disk.after_cut(if through { Loss::Nothing } else { loss });
            if !through {
                start_pure(Files::on(&disk));
                way_back(Files::on(&disk), "6").unwrap();
            }
            let files = Files::on(&disk);
            assert_eq!(program(files).as_deref(), Some("1.7.20"), "cut {cuts}, {loss:?}");
            start_pure(files);
            if through {
                let whose = noted(files).unwrap().unwrap();
                assert_eq!(whose.version.as_deref(), Some("1.7.20"));
                // A plan that wants the old version leaves its data alone.
                let hand = ("containerd", "1.7.20");
                hand_over::<Stopped>(files, hand, Path::new(DATA), "7", || panic!("nothing to stop"))
                    .unwrap();
            }
            files.disk().rename(&kept::failed(Path::new(PROGRAM)), Path::new(PROGRAM)).unwrap();
            assert_eq!(life(files, 8).unwrap(), 1, "cut {cuts}, {loss:?}");
            start_pure(files);
            is_clean(&disk);
            if through {
                break;
            }
        }
        assert!(cuts > 10, "only {cuts} calls");
    }
}

/// A program that could not even tell its version never had the data.
#[test]
fn data_that_was_never_handed_over_stays() {
    let disk = machine();
    let files = Files::on(&disk);
    let before = || Ok::<_, Stopped>(Some("1.7.20".to_owned()));
    note(files, "containerd", Path::new(DATA), before).unwrap();
    for software in ["containerd", "docker"] {
        assert!(!take_back::<Stopped>(files, software, "1", || panic!("nothing to stop")).unwrap());
    }
    whole_or_gone(files);
    assert!(files.read(Path::new("/var/lib/containerd/meta.db")).unwrap().is_some());
}

#[test]
fn data_in_another_directory_goes_with_its_runtime() {
    let disk = machine();
    let files = Files::on(&disk);
    assert_eq!(life(files, 1).unwrap(), 1);
    put(files, "/var/lib/docker/image", "docker's").unwrap();
    start(files).unwrap();
    hand_over::<Stopped>(files, ("docker", "20.10.24"), Path::new("/var/lib/docker"), "5", || Ok(()))
        .unwrap();
    assert!(needs_reboot(files, "5") && !needs_reboot(files, "6"));
    for gone in [DATA, "/var/lib/docker"] {
        assert!(files.disk().look(Path::new(gone)).unwrap().is_none(), "{gone}");
        assert_eq!(remove_old(files, Path::new(gone), &[], soon()).unwrap(), Removal::Done);
    }
    assert_eq!(files.disk().list(Path::new("/var/lib")).unwrap(), ["bringup"]);
}

#[test]
fn a_link_in_place_of_the_directory_is_for_the_operator() {
    let disk = machine();
    let files = Files::on(&disk);
    files.disk().rename(Path::new(DATA), Path::new("/large")).unwrap();
    files.make_link(Path::new(DATA), Path::new("/large")).unwrap();
    let Err(Stopped::Failed(failure)) = up(files, 1) else { panic!("it goes on") };
    assert_eq!(failure.why, "`/var/lib/containerd`, where the old runtime's data is, is no directory");
    assert!(files.read(Path::new("/large/meta.db")).unwrap().is_some());
}

#[test]
fn what_is_mounted_is_not_touched_and_time_is_heeded() {
    let disk = machine();
    let files = Files::on(&disk);
    assert!(up(files, 1).unwrap());
    let before = disk.contents();
    let data = Path::new(DATA);
    let mount = PathBuf::from("/var/lib/.containerd.bringup-old1/snapshots/1/fs");
    assert_eq!(
        remove_old(files, data, std::slice::from_ref(&mount), soon()).unwrap(),
        Removal::Mounted(mount)
    );
    assert_eq!(remove_old(files, data, &[], Instant::now()).unwrap(), Removal::Overdue);
    assert_eq!(disk.contents(), before);
    let elsewhere = ["/", "/var/lib", "/var/lib/containerd"].map(PathBuf::from);
    assert_eq!(remove_old(files, data, &elsewhere, soon()).unwrap(), Removal::Done);
}

#[test]
fn mount_points_are_read_as_the_kernel_writes_them() {
    let text = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n\
                41 22 0:39 /x /var/lib/docker/a\\040b\\134c rw - tmpfs none rw\n";
    assert_eq!(mount_points(text), ["/", "/var/lib/docker/a b\\c"].map(PathBuf::from));
    assert!(mount_points("").is_empty());
}

/// Layers of images have paths of their own length beneath ours.
#[test]
fn trees_that_are_deeper_than_any_path_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(directory.path()).unwrap();
    let files = Files::on(&disk);
    let chain = |top: &str| {
        let mut path = PathBuf::from(top);
        disk.make_directory(&path, 0o755).unwrap();
        for _ in 0..15 {
            path.push("x".repeat(200));
            disk.make_directory(&path, 0o755).unwrap();
        }
        path
    };
    let deepest = chain("/.data.bringup-old7");
    let mut file = disk.create(&deepest.join("file"), 0o644).unwrap();
    file.write(b"x").unwrap();
    chain("/more");
    disk.rename(Path::new("/more"), &deepest.join("more")).unwrap();
    disk.make_directory(Path::new("/.data.bringup-older"), 0o755).unwrap();
    let removed = remove_old(files, Path::new("/data"), &[], soon()).unwrap();
    assert_eq!(removed, Removal::Done);
    assert_eq!(disk.list(Path::new("/")).unwrap(), [".data.bringup-older"]);
}
