# SPDX-License-Identifier: GPL-2.0-only
"""The cost of each item of `make check-all`: seconds of CPU time, on a host of 2024.

They were measured, and are rounded. `make check` names the files whose tests cost much more than
here. A file without a row has the usual cost of its machine, so a new file counts at once.
"""

from fnmatch import fnmatchcase

BOOT = 25.0  # a machine's start, which the tests on it share
USUAL = {"amd": 8.0, "intel": 12.0, "": 0.2}  # a test, by the kind of its machine; "": no machine
FUZZ_SECONDS = 120

# The first pattern that matches counts. It is for a kind of machine; "": for any.
ROWS: tuple[tuple[str, str, float], ...] = (
    # tests that cost much more than the others of their file
    ("*test_races.py::*-long*", "", 900.0), ("*gaps.py::*", "", 600.0),
    ("*::test_create_destroy_many_times*-15]", "", 40.0), ("*::test_create_destroy_many_times*", "", 120.0),
    ("*::test_crash_stops_only_its_cell*", "intel", 45.0), ("*::test_crash_stops_only_its_cell*", "amd", 16.0),
    ("*::test_two_cells_run_independently*", "intel", 37.0),
    ("*::test_enable_disable_12_times*", "", 100.0), ("*::test_enable_disable_under_load*", "", 35.0),
    ("*::test_cpu_goes_offline_and_online*x2apic-8]", "", 20.0), ("*::test_takeover_keeps_segments*", "", 14.0),
    ("*::test_reboot_with_running_cell*", "", 38.0),
    ("*::test_device_survives_create_destroy_rounds[[]20]", "", 45.0),
    ("*::test_doorbell_flood*", "", 110.0), ("*::test_sampling_flood*", "", 110.0),
    ("*::test_every_call_in_every_state*", "", 20.0), ("*::test_new_cell_has_zeroed_memory", "", 26.0),
    ("*::test_absurd_ioctls*2-30]", "", 40.0), ("*::test_kvm_cannot_load*", "intel", 40.0),
    ("*::test_quest_in_cell_is_nearly_as_fast*", "", 75.0), ("*::test_hung_cell_keeps_its_lock", "", 10.0),
    ("*::test_protected_msr_writes*", "intel", 37.0), ("*::test_monitor_fault_fails_only*", "intel", 25.0),
    ("*::test_demo_runs*", "", 25.0), ("*::test_two_machines_hang*", "", 35.0),
    ("*::test_run_copies*", "", 16.0), ("*-read-hidden-intel]", "", 35.0), ("*-read-hidden-x*", "", 28.0),
    ("*::test_threads_come_and_go*", "", 15.0), ("*::test_archive*alone]", "", 11.0),
    # files; "-" for the tests without a machine
    ("inmates/tests/*", "-", 0.3),
    ("tests/attack/test_front.py::*front-channel-*", "amd", 5.0),
    ("tests/attack/test_front.py::*front-channel-*", "intel", 25.0),
    ("tests/lab/test_channel_streams.py::test_stream*", "amd", 10.0),
    ("tests/lab/test_channel_streams.py::*", "amd", 60.0),
    ("tests/attack/test_front.py::*", "amd", 0.8), ("tests/attack/test_front.py::*", "intel", 3.0),
    ("tests/attack/test_inmates.py::*", "amd", 0.3), ("tests/attack/test_inmates.py::*", "intel", 0.9),
    ("tests/attack/test_races.py::*", "amd", 22.0),
    ("tests/lab/test_devices.py::*", "amd", 6.0), ("tests/lab/test_devices_*.py::*", "amd", 6.0),
    ("tests/lab/test_install.py::*", "-", 6.0),
    ("*::test_packages_list_every*", "-", 5.0), ("*::test_packages_from_bare*", "-", 1500.0),
    ("*::test_packages_build_twice*", "-", 200.0), ("*::test_new_kernel_gets*", "-", 300.0),
    ("*::test_packages_install_in_debian_12*", "-", 105.0),
    # Intel's IOMMU is in a machine of QEMU with AMD's processor
    ("tests/lab/test_iommu.py::*many_times*", "amd", 60.0),
    ("tests/lab/test_iommu.py::*reaches_the_cell_only*", "amd", 65.0),
    ("tests/lab/test_iommu.py::*_contained*", "amd", 35.0), ("tests/lab/test_iommu.py::*", "amd", 20.0),
    ("tests/lab/test_isolation.py::*", "amd", 10.0), ("tests/lab/test_isolation.py::*", "intel", 18.0),
    ("tests/lab/test_kdump.py::*", "amd", 25.0), ("tests/lab/test_lost.py::*", "amd", 15.0),
    ("tests/lab/test_lab.py::*", "amd", 1.2), ("tests/lab/test_lab.py::*", "intel", 2.7),
    ("tests/lab/test_osek_suite.py::*", "amd", 4.0), ("tests/lab/test_osek_suite.py::*", "intel", 8.0),
    ("tests/lab/test_lock.py::*", "intel", 24.0), ("tests/lab/test_watchdog.py::*", "intel", 24.0),
    ("tests/lab/test_monitor.py::*", "intel", 8.0), ("tests/lab/test_path.py::*", "amd", 12.0),
    ("tests/lab/test_previous.py::*", "amd", 29.0), ("tests/lab/test_refusals.py::*", "amd", 4.0),
    ("tests/lab/test_sample.py::*", "amd", 14.0), ("tests/lab/test_takeover.py::*", "amd", 5.0),
    ("*::test_unit_starts_a_failed*", "amd", 80.0), ("*::test_unit_interrupts*", "amd", 80.0), ("*::test_unit_survives_ten*", "amd", 60.0),
    ("tests/lab/test_systemd.py::*", "amd", 25.0), ("tests/lab/test_soak.py::*", "amd", 150.0),
    ("tests/lab/test_sleep.py::*", "amd", 20.0),
    ("tests/lab/test_takeover.py::*", "intel", 9.0), ("tests/lab/test_vcpus.py::*", "amd", 3.0), ("tests/lab/test_watching.py::*", "amd", 4.0),
    ("tests/lab/test_watching.py::*", "intel", 6.0),
    # commands; a proof uses two cores
    ("prove manager", "-", 2800.0), ("prove front", "-", 1400.0), ("prove request", "-", 1000.0),
    ("prove decode", "-", 20.0), ("prove icr", "-", 8.0), ("prove msr", "-", 8.0), ("prove pci", "-", 8.0),
    ("prove ring", "-", 8.0), ("prove fourslot", "-", 8.0), ("prove bell", "-", 6.0),
    ("prove *", "-", 120.0), ("fuzz *", "-", FUZZ_SECONDS + 10.0),
    ("build *", "-", 15.0), ("check tests/unit", "-", 85.0), ("check inmates", "-", 80.0), ("check *", "-", 10.0),
    ("torture channels", "-", 300.0),
)


def of(name: str, machine: str) -> float:
    """Returns the weight of an item on a kind of machine, without the machine's boot."""
    return next((seconds for pattern, kind, seconds in ROWS
                 if kind in ("", machine or "-") and fnmatchcase(name, pattern)), USUAL[machine])
