# SPDX-License-Identifier: GPL-2.0-only
"""Tests that need --thorough, with the test in `make check` that shows the same thing.

tests/attack/machines.py lists such attacks. `make check` runs a sample of both, and
`make check-all` runs all."""

from fnmatch import fnmatchcase

# In Bochs each of these tests costs ten seconds of CPU time or more. All of them run on AMD.
ON_INTEL = (
    # tests/attack has these attacks there: front-read-hidden, front-write-*, front-icr-*,
    # front-msr-*, front-instructions, front-hypercall-user
    "test_cell_memory_is_hidden_from_linux*", "test_interrupts_to_cell_are_dropped*",
    "test_protected_msr_writes_are_dropped*", "test_hypervisor_instructions_raise_ud*",
    "test_hypercall_from_program_raises_ud*",
    # tests/attack runs each attack there next to a witness cell, and many of them fail the cell
    "test_two_cells_run_independently*",
    # these tests are about the driver, which does not depend on the processor. On VT-x,
    # test_hanging_cell_can_be_destroyed shows the stop by force
    "test_watchdog_timeout_is_per_cell*", "test_busy_cell_is_not_failed*", "test_hang_becomes_failure*",
    "test_hanging_cell_is_shut_down_by_force_and_restarts*", "test_linux_cannot_release_lock*",
    "test_kernel_log_has_one_line_per_event*", "test_fault_call_needs_test_hooks*",
    # these tests are about Quest. On VT-x, test_fault_ends_only_its_program runs programs, and
    # test_smallest_inmate_builds_and_runs[tiny] another inmate
    "test_shutdown_request_ends_quest_without_force*", "test_inmate_panic_is_left_to_inmate*",
    "test_programs_run_and_free_their_memory*", "test_quesh_returns_status_of_command*",
    "test_hostile_system_calls_harm_no_other_program*", "test_smallest_inmate_builds_and_runs[[]intel-small]",
    # this test repeats many times; other tests there take over once
    "test_enable_disable_under_load_keeps_programs_intact*",
    # the driver refuses both in the same lines for both vendors; front-cr4-vmxe is enabling VT-x
    "test_kvm_cannot_load_while_enabled*", "test_enable_with_kvm_loaded_is_refused*",
    # these tests are about the lab's channel. test_command_output_and_status_are_returned and
    # test_long_messages_pass_both_ways use it in Bochs
    "test_files_are_copied_both_ways*", "test_commands_run_concurrently*", "test_command_has_terminal*",
    # the attacks of kind intel-mixed run there in cells in x2APIC mode, and many of them fail the
    # cell, whose CPU then goes home
    "test_cell_has_mode_that_its_file_asks_for*", "test_cell_in_x2apic_mode_ends_by_a_crash*",
    # direct IPIs are the same permission bits and pages as the attacks icr-* find closed there
    "test_linux_with_direct_ipis_causes_no_apic_exits*", "test_cell_with_direct_ipis_causes_no_apic_exits*",
    "test_direct_ipis_reach_cell_and_start_nothing*",
    # these tests read what the monitor records, which does not depend on the processor;
    # test_idle_cell_and_linux_cause_only_listed_exits looks at a normal life on VT-x
    "test_monitor_fault_fails_only_its_cell*", "test_log_of_normal_life_has_no_violation*",
    "test_sample_shows_registers_of_inmate*",
)
# These tests need a boot of their own, or a minute of CPU time
EVERYWHERE = (
    # the panic and the reboot are always tested
    "test_log_survives_warm_reset[[]reset button]", "test_log_survives_warm_reset[[]sysrq b]", "test_log_survives_warm_reset[[]triple fault]",
    # this test resets a machine to find nothing; the resets above find what is left
    "test_disable_leaves_no_previous_log",
    # the module is built for each kernel; 6.12 and 6.1 run it in xAPIC mode, and 6.12 in x2APIC
    # mode. test_log_survives_warm_reset[reboot] covers the reboot with a running cell
    "test_reboot_with_running_cell_resets_machine", "test_insmod_to_rmmod_restores_linux[[]rt]", "test_insmod_to_rmmod_restores_linux[[]sid]",
    "test_insmod_to_rmmod_restores_linux[[]6.1-x2apic-2]", "test_amd_iommu_enables_x2apic",
    # in xAPIC mode with 6.12 this test always runs
    "test_enable_disable_under_load_keeps_programs_intact[[]x2apic-8]",
    "test_enable_disable_under_load_keeps_programs_intact[[]6.1-xapic]",
    # these measure delays. The attack front-doorbell-flood shows the rate limit next to a witness
    # cell, and inmates/tests/test_sched_properties.py that an I/O VCPU keeps its budget
    "test_sampling_flood_delays_cell_within_bound", "test_doorbell_flood_is_charged_to_its_vcpu",
    # test_program_causes_no_exit and test_idle_cell_and_linux_cause_only_listed_exits find a new
    # exit, which is how a cell becomes slow
    "test_quest_in_cell_is_nearly_as_fast_as_alone",
    # each needs a processor of its own; the other refusals of `enable` are always tested
    "test_enable_without_svm_is_refused", "test_cpus_disabled_by_nosmt_stay_outside",
    # tests/unit has a CPU that ignores NMIs, at each step of each call
    "test_ejected_cpu_is_lost_and_others_return",
    # test_log_survives_warm_reset[panic] covers a panic with a running cell, without a dump
    "test_crash_dump_is_written_while_cell_runs*",
    # these tests are about the lab; other tests in machines use the same machines and copies, and
    # the tests of resets need that the lab notices one
    "test_panic_is_noticed_at_once", "test_reset_in_bochs_is_noticed",
    "test_two_machines_hang_and_reset_independently", "test_run_copies_in_and_out_and_returns_status",
    # with 6.1 in xAPIC mode this test always runs
    "test_linux_with_direct_ipis_causes_no_apic_exits[[]x2apic-8]",
    # inmates/tests/test_sched_properties.py shows budgets of random sets of VCPUs
    "test_24_vcpus_get_their_budgets_and_trace_is_drawn",
    # tests/unit has the same images, and fuzz multiboot2 finds others
    "test_malformed_image_is_refused",
    # tools/tests/test_quesh.py looks at a quesh of root without a machine
    "test_terminal_has_no_privileges",
    # tools/tests/test_cli_run.py has these ends; one unit of a cell is always tested
    "test_unit_gives_up_a_cell_that_fails_again_and_again", "test_unit_of_a_wrong_file_says_what_is_wrong",
    # needs a boot of its own; tests/unit has the lock at each call
    "test_hung_cell_keeps_its_lock",
    # test_sample_shows_registers_of_inmate samples a running cell, test_races_* races calls
    "test_sampling_during_restarts_has_no_side_effect",
    # the attacks mem-zeros* always look for data that another cell, or a failed one, has left
    "test_new_cell_has_zeroed_memory",
    # tests/attack runs each attack next to a witness cell, and many of them fail the cell
    "test_crash_stops_only_its_cell*",
    # in xAPIC mode this test always runs
    "test_cpu_goes_offline_and_online_while_enabled[[]x2apic-8]",
    # this test measures; all other tests in machines use qvctl, too
    "test_qvctl_starts_fast",
    # test_insmod_to_rmmod_restores_linux does the steps of the demo
    "test_demo_runs_to_its_end",
)


def rarely(name: str, in_bochs: bool) -> bool:
    """Returns whether a test of that name needs --thorough."""
    patterns = EVERYWHERE + (ON_INTEL if in_bochs else ())
    return any(fnmatchcase(name, pattern) for pattern in patterns)
