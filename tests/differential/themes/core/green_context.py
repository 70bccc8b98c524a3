# SPDX-License-Identifier: Apache-2.0
"""Green contexts and device resources: what is asked, split, made and refused."""

import copy
import pickle

from cuda.core import (
    ContextOptions,
    Device,
    DeviceResources,
    SMResource,
    SMResourceOptions,
    StreamOptions,
    WorkqueueResource,
    WorkqueueResourceOptions,
)

device = Device(0)
device.set_current()
sm = device.resources.sm
unit = sm.coscheduled_alignment


def counts(*args, dry_run=False, **kwargs):
    groups, rest = sm.split(SMResourceOptions(*args, **kwargs), dry_run=dry_run)
    return [g.sm_count for g in groups], rest.sm_count


def numbers(resource):
    return resource.sm_count, resource.min_partition_size, resource.coscheduled_alignment


def green(**options):
    return device.create_context(ContextOptions([sm.split(SMResourceOptions(count=unit))[0][0]]))


def queue(**fields):
    made = device.resources.workqueue
    made.configure(WorkqueueResourceOptions(**fields))
    return made


def round_trip():
    context = green()
    before = device.set_current(context)
    inside = device.context is context
    return inside, device.set_current(before) is context, device.context is before


def closed_while_current():
    context = green()
    before = device.set_current(context)
    try:
        context.close()
    finally:
        device.set_current(before)


def closed():
    context = green()
    context.close()
    context.close()
    return context


CASES = [
    lambda: DeviceResources(),
    lambda: SMResource(),
    lambda: WorkqueueResource(),
    lambda: device.resources is device.resources,
    lambda: numbers(sm),
    lambda: sm.flags,
    lambda: type(sm.handle),
    lambda: numbers(device.context.resources.sm),
    lambda: numbers(device.create_stream().resources.sm),
    lambda: counts(),
    lambda: counts(unit),
    lambda: counts(count=unit, dry_run=True),
    lambda: counts([unit, unit]),
    lambda: counts([unit, None]),
    lambda: counts([unit, None], dry_run=True),
    lambda: counts(count=unit, coscheduled_sm_count=2),
    lambda: counts(count=unit, backfill=True),
    lambda: counts(count=[unit, unit], backfill=[True, False]),
    lambda: counts([]),
    lambda: counts("a"),
    lambda: counts(-1),
    lambda: counts(3),
    lambda: counts(1 << 20),
    lambda: counts(count=unit, coscheduled_sm_count=[2]),
    lambda: counts(count=[unit], coscheduled_sm_count=[2, 2]),
    lambda: sm.split(),
    lambda: sm.split(None),
    lambda: sm.split(3),
    lambda: SMResourceOptions() == SMResourceOptions(),
    lambda: repr(SMResourceOptions(4)),
    lambda: hash(SMResourceOptions()),
    lambda: copy.copy(SMResourceOptions(2)),
    lambda: pickle.loads(pickle.dumps(SMResourceOptions(2))) == SMResourceOptions(2),
    lambda: WorkqueueResourceOptions("x"),
    lambda: WorkqueueResourceOptions(concurrency_limit=0),
    lambda: WorkqueueResourceOptions(concurrency_limit="a"),
    lambda: repr(WorkqueueResourceOptions("device_ctx")),
    lambda: device.resources.workqueue.sharing_scope,
    lambda: device.resources.workqueue.concurrency_limit,
    lambda: device.resources.workqueue.device == device,
    lambda: queue().sharing_scope,
    lambda: queue(sharing_scope="green_ctx_balanced").sharing_scope,
    lambda: queue(concurrency_limit=3).concurrency_limit,
    lambda: queue().configure(None),
    lambda: device.create_context(None),
    lambda: device.create_context(),
    lambda: device.create_context(3),
    lambda: device.create_context(ContextOptions(None)),
    lambda: device.create_context(ContextOptions([])),
    lambda: device.create_context(ContextOptions([1])),
    lambda: device.create_context({"resources": [sm]}).is_green,
    lambda: device.create_context(ContextOptions(sm.split(SMResourceOptions(), dry_run=True)[0])),
    lambda: green().is_green,
    lambda: green().is_closed,
    lambda: green().resources.sm.sm_count == unit,
    lambda: green().create_stream().resources.sm.sm_count == unit,
    lambda: green().create_stream().is_nonblocking,
    lambda: green().create_stream(StreamOptions(nonblocking=False)),
    lambda: green().create_stream(StreamOptions(priority=99)),
    lambda: green().create_stream(StreamOptions(priority=-1)).priority,
    lambda: green() == green(),
    lambda: round_trip(),
    lambda: closed_while_current(),
    lambda: closed().handle,
    lambda: closed().is_green,
    lambda: closed().resources,
    lambda: closed().create_stream(),
]
