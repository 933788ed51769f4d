//! The settings that systemd knows, by section: what systemd 252 prints with `--dump-configuration-items`, and what has
//! been added since.

/// Of everything that is a group of processes.
const RESOURCES: &str = "\
     AllowedCPUs AllowedMemoryNodes BPFProgram BlockIOAccounting BlockIODeviceWeight BlockIOReadBandwidth \
     BlockIOWeight BlockIOWriteBandwidth CPUAccounting CPUQuota CPUQuotaPeriodSec CPUShares CPUWeight \
     DefaultMemoryLow DefaultMemoryMin Delegate DeviceAllow DevicePolicy DisableControllers IOAccounting \
     IODeviceLatencyTargetSec IODeviceWeight IOReadBandwidthMax IOReadIOPSMax IOWeight IOWriteBandwidthMax \
     IOWriteIOPSMax IPAccounting IPAddressAllow IPAddressDeny IPEgressFilterPath IPIngressFilterPath \
     ManagedOOMMemoryPressure ManagedOOMMemoryPressureLimit ManagedOOMPreference ManagedOOMSwap MemoryAccounting \
     MemoryHigh MemoryLimit MemoryLow MemoryMax MemoryMin MemorySwapMax RestrictNetworkInterfaces Slice \
     SocketBindAllow SocketBindDeny StartupAllowedCPUs StartupAllowedMemoryNodes StartupBlockIOWeight \
     StartupCPUShares StartupCPUWeight StartupIOWeight TasksAccounting TasksMax";
/// Of everything that runs a process.
const PROCESSES: &str = "\
     AmbientCapabilities AppArmorProfile BindPaths BindReadOnlyPaths CPUAffinity CPUSchedulingPolicy \
     CPUSchedulingPriority CPUSchedulingResetOnFork CacheDirectory CacheDirectoryMode CapabilityBoundingSet \
     ConfigurationDirectory ConfigurationDirectoryMode CoredumpFilter DynamicUser Environment EnvironmentFile \
     ExecPaths ExecSearchPath ExtensionDirectories ExtensionImages FinalKillSignal Group IOSchedulingClass \
     IOSchedulingPriority IPCNamespacePath IgnoreSIGPIPE InaccessibleDirectories InaccessiblePaths KeyringMode \
     KillMode KillSignal LimitAS LimitCORE LimitCPU LimitDATA LimitFSIZE LimitLOCKS LimitMEMLOCK LimitMSGQUEUE \
     LimitNICE LimitNOFILE LimitNPROC LimitRSS LimitRTPRIO LimitRTTIME LimitSIGPENDING LimitSTACK LoadCredential \
     LoadCredentialEncrypted LockPersonality LogExtraFields LogLevelMax LogNamespace LogRateLimitBurst \
     LogRateLimitIntervalSec LogsDirectory LogsDirectoryMode MemoryDenyWriteExecute MountAPIVFS MountFlags \
     MountImages NUMAMask NUMAPolicy NetworkNamespacePath Nice NoExecPaths NoNewPrivileges OOMScoreAdjust PAMName \
     PassEnvironment Personality PrivateDevices PrivateIPC PrivateMounts PrivateNetwork PrivateTmp PrivateUsers \
     ProcSubset ProtectClock ProtectControlGroups ProtectHome ProtectHostname ProtectKernelLogs \
     ProtectKernelModules ProtectKernelTunables ProtectProc ProtectSystem ReadOnlyDirectories ReadOnlyPaths \
     ReadWriteDirectories ReadWritePaths RemoveIPC RestartKillSignal RestrictAddressFamilies RestrictFileSystems \
     RestrictNamespaces RestrictRealtime RestrictSUIDSGID RootDirectory RootHash RootHashSignature RootImage \
     RootImageOptions RootVerity RuntimeDirectory RuntimeDirectoryMode RuntimeDirectoryPreserve SELinuxContext \
     SecureBits SendSIGHUP SendSIGKILL SetCredential SetCredentialEncrypted SmackProcessLabel StandardError \
     StandardInput StandardInputData StandardInputText StandardOutput StateDirectory StateDirectoryMode \
     SupplementaryGroups SyslogFacility SyslogIdentifier SyslogLevel SyslogLevelPrefix SystemCallArchitectures \
     SystemCallErrorNumber SystemCallFilter SystemCallLog TTYColumns TTYPath TTYReset TTYRows TTYVHangup \
     TTYVTDisallocate TemporaryFileSystem TimeoutCleanSec TimeoutSec TimerSlackNSec UMask UnsetEnvironment User \
     UtmpIdentifier UtmpMode WatchdogSignal WorkingDirectory";
/// Since 252, in whatever section.
const NEWER: &str = "\
     AssertKernelModuleLoaded AssertVersion BindLogSockets ConditionKernelModuleLoaded ConditionVersion \
     CoredumpReceive DeferReactivation DeferTrigger DelegateSubgroup ExtensionImagePolicy \
     FileDescriptorStorePreserve ImportCredential LogFilterPatterns ManagedOOMMemoryPressureDurationSec MemoryKSM \
     MemoryPressureThresholdSec MemoryPressureWatch MemoryZSwapWriteback MountImagePolicy NFTSet OpenFile \
     PassFileDescriptorsToExec PollLimitBurst PollLimitIntervalSec PrivateBPF PrivatePIDs ReloadSignal \
     RestartMaxDelaySec RestartMode RestartSteps RestrictFileSystemAccess RootEphemeral RootImagePolicy \
     SetLoginEnvironment StartupMemoryHigh StartupMemoryLow StartupMemoryMax StartupMemorySwapMax \
     StartupMemoryZSwapMax SurviveFinalKillSignal WantsMountsFor";
/// Every unit.
const UNIT: &str = "\
     After AllowIsolate AssertACPower AssertArchitecture AssertCPUFeature AssertCPUPressure AssertCPUs \
     AssertCapability AssertControlGroupController AssertCredential AssertDirectoryNotEmpty AssertEnvironment \
     AssertFileIsExecutable AssertFileNotEmpty AssertFirstBoot AssertGroup AssertHost AssertIOPressure \
     AssertKernelCommandLine AssertKernelVersion AssertMemory AssertMemoryPressure AssertNeedsUpdate \
     AssertOSRelease AssertPathExists AssertPathExistsGlob AssertPathIsDirectory AssertPathIsEncrypted \
     AssertPathIsMountPoint AssertPathIsReadWrite AssertPathIsSymbolicLink AssertSecurity AssertUser \
     AssertVirtualization Before BindTo BindsTo CollectMode ConditionACPower ConditionArchitecture \
     ConditionCPUFeature ConditionCPUPressure ConditionCPUs ConditionCapability ConditionControlGroupController \
     ConditionCredential ConditionDirectoryNotEmpty ConditionEnvironment ConditionFileIsExecutable \
     ConditionFileNotEmpty ConditionFirmware ConditionFirstBoot ConditionGroup ConditionHost ConditionIOPressure \
     ConditionKernelCommandLine ConditionKernelVersion ConditionMemory ConditionMemoryPressure \
     ConditionNeedsUpdate ConditionOSRelease ConditionPathExists ConditionPathExistsGlob ConditionPathIsDirectory \
     ConditionPathIsEncrypted ConditionPathIsMountPoint ConditionPathIsReadWrite ConditionPathIsSymbolicLink \
     ConditionSecurity ConditionUser ConditionVirtualization Conflicts DefaultDependencies Description \
     Documentation FailureAction FailureActionExitStatus IgnoreOnIsolate JobRunningTimeoutSec JobTimeoutAction \
     JobTimeoutRebootArgument JobTimeoutSec JoinsNamespaceOf OnFailure OnFailureIsolate OnFailureJobMode \
     OnSuccess OnSuccessJobMode PartOf PropagateReloadFrom PropagateReloadTo PropagatesReloadTo PropagatesStopTo \
     RebootArgument RefuseManualStart RefuseManualStop ReloadPropagatedFrom Requires RequiresMountsFor \
     RequiresOverridable Requisite RequisiteOverridable SourcePath StartLimitAction StartLimitBurst \
     StartLimitInterval StartLimitIntervalSec StopPropagatedFrom StopWhenUnneeded SuccessAction \
     SuccessActionExitStatus Upholds Wants";
/// Read by `systemctl enable`.
const INSTALL: &str = "\
     Alias Also DefaultInstance RequiredBy WantedBy";
/// Of `[Service]` alone.
const SERVICE: &str = "\
     BusName ExecCondition ExecReload ExecStart ExecStartPost ExecStartPre ExecStop ExecStopPost ExitType \
     FailureAction FileDescriptorStoreMax GuessMainPID NonBlocking NotifyAccess OOMPolicy PIDFile \
     PermissionsStartOnly RebootArgument RemainAfterExit Restart RestartForceExitStatus RestartPreventExitStatus \
     RestartSec RootDirectoryStartOnly RuntimeMaxSec RuntimeRandomizedExtraSec Sockets StartLimitAction \
     StartLimitBurst StartLimitInterval SuccessExitStatus TimeoutAbortSec TimeoutStartFailureMode TimeoutStartSec \
     TimeoutStopFailureMode TimeoutStopSec Type USBFunctionDescriptors USBFunctionStrings WatchdogSec";
/// Of `[Socket]` alone.
const SOCKET: &str = "\
     Accept Backlog BindIPv6Only BindToDevice Broadcast DeferAcceptSec DirectoryMode ExecStartPost ExecStartPre \
     ExecStopPost ExecStopPre FileDescriptorName FlushPending FreeBind IPTOS IPTTL KeepAlive KeepAliveIntervalSec \
     KeepAliveProbes KeepAliveTimeSec ListenDatagram ListenFIFO ListenMessageQueue ListenNetlink \
     ListenSequentialPacket ListenSpecial ListenStream ListenUSBFunction Mark MaxConnections \
     MaxConnectionsPerSource MessageQueueMaxMessages MessageQueueMessageSize NoDelay PassCredentials \
     PassPacketInfo PassSecurity PipeSize Priority ReceiveBuffer RemoveOnStop ReusePort SELinuxContextFromNet \
     SendBuffer Service SmackLabel SmackLabelIPIn SmackLabelIPOut SocketGroup SocketMode SocketProtocol \
     SocketUser Symlinks TCPCongestion Timestamping Transparent TriggerLimitBurst TriggerLimitIntervalSec \
     Writable";
/// Of `[Mount]` alone.
const MOUNT: &str = "\
     DirectoryMode ForceUnmount LazyUnmount Options ReadWriteOnly SloppyOptions Type What Where";
/// Of `[Swap]` alone.
const SWAP: &str = "\
     Options Priority What";
/// Of `[Slice]` alone.
const SLICE: &str = "\
     ";
/// Of `[Scope]` alone.
const SCOPE: &str = "\
     FinalKillSignal KillMode KillSignal OOMPolicy RestartKillSignal RuntimeMaxSec RuntimeRandomizedExtraSec \
     SendSIGHUP SendSIGKILL TimeoutStopSec WatchdogSignal";
/// Of `[Automount]` alone.
const AUTOMOUNT: &str = "\
     DirectoryMode ExtraOptions TimeoutIdleSec Where";
/// Of `[Timer]` alone.
const TIMER: &str = "\
     AccuracySec FixedRandomDelay OnActiveSec OnBootSec OnCalendar OnClockChange OnStartupSec OnTimezoneChange \
     OnUnitActiveSec OnUnitInactiveSec Persistent RandomizedDelaySec RemainAfterElapse Unit WakeSystem";
/// Of `[Path]` alone.
const PATH: &str = "\
     DirectoryMode DirectoryNotEmpty MakeDirectory PathChanged PathExists PathExistsGlob PathModified \
     TriggerLimitBurst TriggerLimitIntervalSec Unit";

/// Sections, and the names in each, as texts of words.
pub(super) const SETTINGS: &[(&str, &[&str])] = &[
    ("Unit", &[UNIT, NEWER]),
    ("Install", &[INSTALL]),
    ("Service", &[SERVICE, PROCESSES, RESOURCES, NEWER]),
    ("Socket", &[SOCKET, PROCESSES, RESOURCES, NEWER]),
    ("Mount", &[MOUNT, PROCESSES, RESOURCES, NEWER]),
    ("Swap", &[SWAP, PROCESSES, RESOURCES, NEWER]),
    ("Slice", &[SLICE, RESOURCES, NEWER]),
    ("Scope", &[SCOPE, RESOURCES, NEWER]),
    ("Automount", &[AUTOMOUNT, NEWER]),
    ("Timer", &[TIMER, NEWER]),
    ("Path", &[PATH, NEWER]),
];

/// The names that a section may have; nothing for a section that is not systemd's.
pub(super) fn settings_of(section: &str) -> Option<impl Iterator<Item = &'static str>> {
    let (_, texts) = SETTINGS.iter().find(|(name, _)| *name == section)?;
    Some(texts.iter().flat_map(|text| text.split(' ')))
}
