# SPDX-License-Identifier: Apache-2.0
"""Contexts, green ones and their resources: origin, results, rejected arguments, closing."""

import copy
import pickle

from cuda.core import (
    Context,
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
stream = device.create_stream()
event = device.create_event()
sm = device.resources.sm
unit = sm.coscheduled_alignment


def closed():
    from cuda.bindings import driver

    context = device.create_stream().context
    driver.cuCtxSetCurrent(0)
    context.close()
    context.close()
    device.set_current()
    return context


def counts(*args, dry_run=False, **kwargs):
    groups, rest = sm.split(SMResourceOptions(*args, **kwargs), dry_run=dry_run)
    return [g.sm_count for g in groups], rest.sm_count


def numbers(resource):
    return resource.sm_count, resource.min_partition_size, resource.coscheduled_alignment


def green():
    return device.create_context(ContextOptions([sm.split(SMResourceOptions(count=unit))[0][0]]))


def queue(**fields):
    queue_resource = device.resources.workqueue
    queue_resource.configure(WorkqueueResourceOptions(**fields))
    return queue_resource


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


def closed_green():
    context = green()
    context.close()
    context.close()
    return context


CASES = [
    lambda: Context(),
    lambda: Context(3),
    lambda: type(device.context.handle),
    lambda: device.context == stream.context,
    lambda: device.context == event.context,
    lambda: hash(device.context) == hash(stream.context),
    lambda: hash(device.context) == hash(int(device.context.handle)),
    lambda: device.context == device.context.handle,
    lambda: device.context == 0,
    lambda: device.context.__eq__(3),
    lambda: device.context.is_green,
    lambda: device.context.is_closed,
    lambda: repr(device.context),
    lambda: device.context._handle == device.context.handle,
    lambda: device.context.create_stream(),
    lambda: device.context.close(),
    lambda: stream.context.close(),
    lambda: closed().is_closed,
    lambda: closed().handle,
    lambda: repr(closed()),
    lambda: bool(closed()),
    lambda: closed() == stream.context,
    lambda: device.set_current(closed()),
    lambda: closed().create_stream(),
    lambda: pickle.dumps(device.context),
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
    lambda: closed_green().handle,
    lambda: closed_green().is_green,
    lambda: closed_green().resources,
    lambda: closed_green().create_stream(),
]
