# SPDX-License-Identifier: Apache-2.0
"""How a device's multiprocessors are divided: each limit from both sides, with its reason."""

import ast
import ctypes
import itertools

import pytest

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE, INVALID_TYPE, INVALID_CONFIGURATION = 1, 914, 915
BACKFILL, DOMAIN, SUPPLEMENTAL, ANY_DOMAIN = 1, 2, 4, 2**32 - 1
FINE, LARGEST_CLUSTER = 1, 2

PROGRAM = """
    import ast, sys
    from cuda.bindings import driver as cu
    from cuda.core.emulation import error_text
    cu.cuInit(0)
    whole = cu.cuDeviceGetDevResource(0, cu.CUdevResourceType(1))[1]
    def fields(resource):
        sm = resource.sm
        return int(resource.type), sm.smCount, sm.minSmPartitionSize, sm.smCoscheduledAlignment
    def by_count(number, flags, minimum):
        status, parts, possible, remainder = cu.cuDevSmResourceSplitByCount(
            number, whole, flags, minimum)
        if status:
            return int(status), error_text(status)
        return possible, [fields(each) for each in parts[:possible]], fields(remainder)
    def by_groups(*sizes):
        groups = []
        for size, coscheduled, preferred, flags, domain in sizes:
            groups.append(cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS(smCount=size, flags=flags,
                coscheduledSmCount=coscheduled, preferredCoscheduledSmCount=preferred,
                localityDomainId=domain))
        status, parts, remainder = cu.cuDevSmResourceSplit(len(groups), whole, 0, groups)
        if status:
            return int(status), error_text(status)
        return [fields(each) for each in parts], fields(remainder)
    print([fields(whole)] + [(by_count if kind == "count" else by_groups)(*values)
                             for kind, values in ast.literal_eval(sys.argv[1])])
"""


@pytest.fixture
def divide(run_emulated):
    """The whole of a device and each division of it: its parts and remainder, or the refusal."""

    def run(*divisions, **options):
        cases = [("count" if isinstance(d, tuple) else "groups", d) for d in divisions]
        return ast.literal_eval(run_emulated(PROGRAM, repr(cases), **options).stdout)

    return run


def group(size, coscheduled=0, preferred=0, flags=0, domain=0):
    return size, coscheduled, preferred, flags, domain


DEVICES = [
    ("9.0", 132, 8, 8),
    ("9.0", 16, 8, 8),
    ("9.0", 15, 2, 2),
    ("9.0", 2, 2, 2),
    ("10.0", 148, 8, 8),
    ("12.0", 17, 8, 8),
    ("8.9", 128, 4, 2),
    ("8.0", 8, 4, 2),
    ("8.0", 7, 2, 2),
    ("7.5", 68, 2, 2),
    ("7.5", 4, 2, 2),
    ("7.5", 3, 2, 2),
    ("7.5", 2, 2, 2),
]


@pytest.mark.parametrize(("cc", "size", "least", "alignment"), DEVICES)
def test_the_whole_of_a_device(divide, cc, size, least, alignment):
    assert divide(cc=cc, multiprocessors=size) == [(1, size, least, alignment)]


def test_equal_parts(divide):
    results = divide(
        *((64, 0, minimum) for minimum in (0, 8, 9, 16, 17, 66, 128, 129)),
        *((64, FINE, minimum) for minimum in (3, 4, 5, 131, 132)),
        *((2, flags, 3) for flags in (LARGEST_CLUSTER, FINE | LARGEST_CLUSTER)),
        (1, 0, 64),
        cc="9.0",
        multiprocessors=132,
    )[1:]

    def parts(number, size, remaining):
        remainder = (1, remaining, 8, 8) if remaining else (0, 0, 0, 0)
        return number, [(1, size, 8, 8)] * number, remainder

    assert results == [
        parts(16, 8, 4),
        parts(16, 8, 4),
        parts(8, 16, 4),
        parts(8, 16, 4),
        parts(5, 24, 12),
        parts(1, 72, 60),
        parts(1, 128, 4),
        (INVALID_CONFIGURATION, results[7][1]),
        parts(33, 4, 0),
        parts(33, 4, 0),
        parts(22, 6, 0),
        parts(1, 132, 0),
        parts(1, 132, 0),
        parts(2, 8, 116),
        parts(2, 4, 124),
        parts(1, 64, 68),
    ]
    assert "groups of 136 multiprocessors (129, rounded up) of 132" in results[7][1]


def test_equal_parts_of_older_devices(divide):
    options = {"cc": "8.0", "multiprocessors": 10}
    whole, *results = divide((9, 0, 0), (9, 0, 5), (9, FINE, 0), (9, FINE, 3), **options)
    assert whole == (1, 10, 4, 2)
    assert results == [
        (2, [(1, 4, 4, 2)] * 2, (1, 2, 4, 2)),
        (1, [(1, 6, 4, 2)], (1, 4, 4, 2)),
        (5, [(1, 2, 4, 2)] * 5, (0, 0, 0, 0)),
        (2, [(1, 4, 4, 2)] * 2, (1, 2, 4, 2)),
    ]


def test_refused_equal_parts(divide):
    results = divide((1, 4, 2), (1, 8, 2), (1, 0, 11), (1, 0, 10), cc="7.5", multiprocessors=10)
    assert [each[0] for each in results[1:]] == [INVALID_VALUE, INVALID_VALUE, INVALID_VALUE, 1]
    assert "invalid flags of a split" in results[1][1]
    assert "a group needs more multiprocessors than the input has" in results[3][1]


def test_structured_parts(divide):
    def part(size, alignment=8):
        return 1, size, 8, alignment

    remaining = {size: (1, size, 8, 8) for size in range(1, 132)} | {0: (0, 0, 0, 0)}
    results = divide(
        [group(8)],
        [group(128)],
        [group(132, 2)],
        [group(64, 32), group(64, 4), group(4, 2)],
        [group(8, 4, 8), group(8, 4, 4), group(8, 4, 0)],
        [group(12, 8, 0, BACKFILL)],
        [group(8), group(0)],
        [group(8), group(0, 8, 0, BACKFILL)],
        [group(100, 2), group(0, 6)],
        [group(8, 8, 0, DOMAIN), group(8, 8, 0, DOMAIN, ANY_DOMAIN)],
        [group(8, 8, 0, 0, 1), group(8, 8, 0, SUPPLEMENTAL, 1)],
        [group(8, 8, 0, BACKFILL | DOMAIN | SUPPLEMENTAL)],
        cc="9.0",
        multiprocessors=132,
    )[1:]
    assert results == [
        ([part(8)], remaining[124]),
        ([part(128)], remaining[4]),
        ([part(132, 2)], remaining[0]),
        ([part(64, 32), part(64, 4), part(4, 2)], remaining[0]),
        ([part(8, 4)] * 3, remaining[108]),
        ([part(12)], remaining[120]),
        ([part(8), part(120)], remaining[4]),
        ([part(8), part(124)], remaining[0]),
        ([part(100, 2), part(30, 6)], remaining[2]),
        ([part(8)] * 2, remaining[116]),
        ([part(8)] * 2, remaining[116]),
        ([part(8)], remaining[124]),
    ]


COSCHEDULED = "coscheduledSmCount is {}; it must be even and at most {}"
SIZE = "a group of {} multiprocessors; it must have an even number from 2 to 132"
REFUSED = [
    (group(8, 0, 0, 8), "invalid flags of a group"),
    (group(8, 0, 0, BACKFILL | 16), "invalid flags of a group"),
    (group(34, 34), COSCHEDULED.format(34, 32)),
    (group(9, 3), COSCHEDULED.format(3, 32)),
    (group(1, 1), COSCHEDULED.format(1, 32)),
    (group(8, 4, 6), "preferredCoscheduledSmCount is not a multiple of coscheduledSmCount"),
    (group(8, 0, 4), "preferredCoscheduledSmCount is not a multiple of coscheduledSmCount"),
    (group(1, 2), SIZE.format(1)),
    (group(3, 2, 0, BACKFILL), SIZE.format(3)),
    (group(134, 2), SIZE.format(134)),
    (
        group(12),
        "a group of 12 multiprocessors is not a multiple of the 8 that are co-scheduled; "
        "lower coscheduledSmCount or set the backfill flag",
    ),
    (group(8, 8, 0, DOMAIN, 1), "the device has only locality domain 0"),
    (
        group(4, 8, 0, BACKFILL),
        "a group ends up with 4 multiprocessors, fewer than coscheduledSmCount",
    ),
]


def test_refused_structured_parts(divide):
    results = divide(*([each] for each, _ in REFUSED), cc="9.0", multiprocessors=132)[1:]
    for (each, reason), (status, text) in zip(REFUSED, results, strict=True):
        wrong_flags = "invalid flags" in reason
        assert status == (INVALID_VALUE if wrong_flags else INVALID_CONFIGURATION), each
        assert reason in text, each


def test_refused_later_parts(divide):
    results = divide(
        [group(128), group(8)],
        [group(132, 2), group(0, 2)],
        [group(128), group(0)],
        cc="9.0",
        multiprocessors=132,
    )[1:]
    assert {status for status, _ in results} == {INVALID_CONFIGURATION}
    empty = "a group ends up with 0 multiprocessors, fewer than coscheduledSmCount"
    reasons = ["a group of 8 multiprocessors, but only 4 remain", empty, empty]
    for reason, (_, text) in zip(reasons, results, strict=True):
        assert reason in text


def test_an_older_device_coschedules_two(divide):
    results = divide([group(4, 2)], [group(4, 4)], [group(4)], cc="8.9", multiprocessors=12)[1:]
    assert results[0] == results[2] == ([(1, 4, 4, 2)], (1, 8, 4, 2))
    assert results[1][0] == INVALID_CONFIGURATION
    assert COSCHEDULED.format(4, 2) in results[1][1]


class TestResources:
    SM, WORKQUEUE_CONFIG, WORKQUEUE = 1, 1000, 10000

    @pytest.fixture
    def cu(self, driver):
        from cuda.bindings import driver as cu

        return cu

    @pytest.fixture
    def refuses(self, emulated):
        def check(result, reason, code=INVALID_CONFIGURATION):
            status = result[0] if isinstance(result, tuple) else result
            assert int(status) == code
            assert reason in emulated.error_text(status)

        return check

    @pytest.fixture
    def whole(self, cu):
        return self.of(cu, self.SM)

    def of(self, cu, kind, device=0):
        status, resource = cu.cuDeviceGetDevResource(device, cu.CUdevResourceType(kind))
        assert status == 0
        return resource

    def halves(self, cu, whole):
        half = whole.sm.smCount // 2
        status, parts, _, _ = cu.cuDevSmResourceSplitByCount(2, whole, 0, half)
        assert status == 0
        assert [each.sm.smCount for each in parts] == [half, half]
        return list(parts)

    def describe(self, cu, *resources):
        return cu.cuDevResourceGenerateDesc(list(resources), len(resources))

    def test_workqueues(self, cu):
        config = self.of(cu, self.WORKQUEUE_CONFIG).wqConfig
        assert (int(config.device), config.wqConcurrencyLimit, config.sharingScope) == (0, 8, 0)
        queue = self.of(cu, self.WORKQUEUE)
        assert int(queue.type) == self.WORKQUEUE
        assert set(bytes(queue.wq.reserved)) == {0}

    def test_only_multiprocessors_are_split(self, cu, refuses):
        group = cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS(smCount=2, coscheduledSmCount=2)
        for kind in (self.WORKQUEUE_CONFIG, self.WORKQUEUE):
            queue = self.of(cu, kind)
            reason = "only multiprocessors can be split"
            refuses(cu.cuDevSmResourceSplitByCount(1, queue, 0, 2), reason, INVALID_TYPE)
            refuses(cu.cuDevSmResourceSplit(1, queue, 0, [group]), reason, INVALID_TYPE)

    def test_flags_and_numbers_of_a_structured_split(self, cu, whole, refuses):
        group = cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS(smCount=2, coscheduledSmCount=2)
        reason = "the flags must be 0, and there must be a group"
        for flags in (1, 2, 2**31):
            refuses(cu.cuDevSmResourceSplit(1, whole, flags, [group]), reason, INVALID_VALUE)
        refuses(cu.cuDevSmResourceSplit(0, whole, 0, [group]), reason, INVALID_VALUE)

    def test_a_part_is_not_split(self, cu, whole, refuses):
        part, _ = self.halves(cu, whole)
        group = cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS(smCount=2, coscheduledSmCount=2)
        reason = "a group of a split cannot be split: create a green context of it and query"
        refuses(cu.cuDevSmResourceSplitByCount(1, part, 0, 2), reason)
        refuses(cu.cuDevSmResourceSplit(1, part, 0, [group]), reason)

    def test_a_remainder_is_split_and_a_context_again(self, cu, whole):
        _, (part,), _, remainder = cu.cuDevSmResourceSplitByCount(1, whole, 0, 2)
        assert part.sm.smCount == remainder.sm.smCount == whole.sm.smCount // 2
        assert cu.cuDevSmResourceSplitByCount(1, remainder, 0, 2)[0] == 0
        green = cu.cuGreenCtxCreate(self.describe(cu, part)[1], 0, 1)[1]
        source = cu.cuGreenCtxGetDevResource(green, cu.CUdevResourceType(self.SM))[1]
        assert source.sm.smCount == part.sm.smCount
        assert cu.cuDevSmResourceSplitByCount(1, source, 0, 2)[0] == 0
        assert cu.cuGreenCtxDestroy(green) == (0,)

    @pytest.mark.parametrize(
        "field", ["smCount", "minSmPartitionSize", "smCoscheduledAlignment", "flags"]
    )
    def test_fields_are_not_changed(self, cu, whole, refuses, field):
        setattr(whole.sm, field, getattr(whole.sm, field) + 1)
        reason = "the fields of a resource from the driver are read-only"
        refuses(cu.cuDevSmResourceSplitByCount(1, whole, 0, 2), reason)
        setattr(whole.sm, field, getattr(whole.sm, field) - 1)
        assert cu.cuDevSmResourceSplitByCount(1, whole, 0, 2)[0] == 0

    def test_a_foreign_resource_is_refused(self, cu, whole, refuses):
        foreign = cu.CUdevResource(type=cu.CUdevResourceType(self.SM))
        reason = "the resource was not filled in by the driver: query the device or a context"
        refuses(self.describe(cu, foreign), reason)
        mark = ctypes.c_ubyte.from_address(whole.getPtr() + 4)
        mark.value += 1
        refuses(self.describe(cu, whole), reason)
        mark.value -= 1
        assert self.describe(cu, whole)[0] == 0

    def test_parts_of_one_split_are_joined(self, cu, whole):
        parts = self.halves(cu, whole)
        for named, size in ((parts, 2), (parts[::-1], 2), (parts[:1], 1)):
            green = cu.cuGreenCtxCreate(self.describe(cu, *named)[1], 0, 1)[1]
            source = cu.cuGreenCtxGetDevResource(green, cu.CUdevResourceType(self.SM))[1]
            assert source.sm.smCount == size * whole.sm.smCount // 2
            assert cu.cuGreenCtxDestroy(green) == (0,)

    def test_parts_of_two_splits_are_not_joined(self, cu, whole, refuses):
        one, other = self.halves(cu, whole)[0], self.halves(cu, whole)[1]
        reason = "combined multiprocessors must come from one split"
        for pair in itertools.permutations((one, other, whole), 2):
            refuses(self.describe(cu, *pair), reason)
        refuses(self.describe(cu, whole, whole), reason)

    def test_unknown_and_second_resources(self, cu, whole, refuses):
        queues = [self.of(cu, kind) for kind in (self.WORKQUEUE_CONFIG, self.WORKQUEUE)]
        for pair in itertools.product(queues, queues):
            refuses(self.describe(cu, *pair), "there are two workqueues")
        reason = "a resource has type INVALID, as an empty remainder has"
        refuses(self.describe(cu, whole, cu.CUdevResource()), reason, INVALID_TYPE)
        refuses(cu.cuDevResourceGenerateDesc([whole], 0), "the list of resources", INVALID_VALUE)
        kind = ctypes.c_int.from_address(queues[0].getPtr())
        kind.value = 7
        refuses(self.describe(cu, whole, queues[0]), "a resource has an unknown", INVALID_TYPE)


def test_resources_of_two_devices_are_not_joined(run_emulated):
    code = """
        from cuda.bindings import driver as cu
        from cuda.core.emulation import error_text
        cu.cuInit(0)
        kinds = [cu.CUdevResourceType(each) for each in (1, 1000)]
        (one, queue), (other, _) = [[cu.cuDeviceGetDevResource(d, kind)[1] for kind in kinds]
                                    for d in (0, 1)]
        for pair in ([one, other], [other, one], [other, queue]):
            status, _ = cu.cuDevResourceGenerateDesc(pair, 2)
            print(int(status), "the resources belong to two devices" in error_text(status))
        print(int(cu.cuDevResourceGenerateDesc([other], 1)[0]))
    """
    lines = run_emulated(code, devices=2).stdout.splitlines()
    assert lines == ["915 True"] * 3 + ["0"]
