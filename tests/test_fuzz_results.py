"""Some seconds of damaged folders and made-up command lines; `make fuzz` takes longer."""

import fuzz_results


def test_no_folder_and_no_command_line_breaks_the_command() -> None:
    assert fuzz_results.drive(20, seed=1) >= 3
