# SPDX-License-Identifier: Apache-2.0
"""A null pointer is an error of the call, unless the parameter is optional."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("null_arguments.py")

INVALID_VALUE, NOT_SUPPORTED = 1, 801
# The code for a null pointer where it is another one: 0 for an optional parameter, else what the
# zeros behind the other pointers, or an absent file or name, lead to.
OTHER_CODES = {
    "cuCtxCreate": "ctxCreateParams=0",
    "cuCtxCreate_v3": "paramsArray=0",
    "cuCtxGetStreamPriorityRange": "leastPriority=0 greatestPriority=0",
    "cuDevSmResourceSplitByCount": "result=914 remainder=914",
    "cuGetProcAddress": "symbolStatus=0",
    "cuGraphAddChildGraphNode": "dependencies=0",
    "cuGraphAddDependencies": "from=0 to=0 edgeData=0",
    "cuGraphAddEmptyNode": "dependencies=0",
    "cuGraphAddEventRecordNode": "dependencies=0",
    "cuGraphAddEventWaitNode": "dependencies=0",
    "cuGraphGetEdges": "edgeData=0",
    "cuGraphGetNodes": "nodes=0",
    "cuGraphGetRootNodes": "rootNodes=0",
    "cuGraphNodeGetDependencies": "dependencies=0 edgeData=0",
    "cuGraphNodeGetDependentNodes": "dependentNodes=0 edgeData=0",
    "cuGraphRemoveDependencies": "from=0 to=0 edgeData=0",
    "cuGraphicsResourceGetMappedPointer": "pDevPtr=400 pSize=400",
    "cuLibraryGetGlobal": "dptr=500 bytes=500",
    "cuLibraryGetManaged": "dptr=500 bytes=500",
    "cuLibraryLoadData": "jitOptions=200 jitOptionsValues=200 "
    "libraryOptions=200 libraryOptionValues=200",
    "cuLibraryLoadFromFile": "jitOptions=301 jitOptionsValues=301 "
    "libraryOptions=301 libraryOptionValues=301",
    "cuLinkAddFile": "options=301 optionValues=301",
    "cuLinkComplete": "sizeOut=999",
    "cuLinkCreate": "options=0 optionValues=0",
    "cuMemFreeHost": "p=0",
    "cuMemGetAddressRange": "pbase=0 psize=0",
    "cuMemPoolSetAccess": "map=0",
    "cuMemcpyAtoH": "dstHost=0",
    "cuMemcpyAtoHAsync": "dstHost=0",
    "cuMemcpyDtoH": "dstHost=0",
    "cuMemcpyDtoHAsync": "dstHost=0",
    "cuMemcpyHtoA": "srcHost=0",
    "cuMemcpyHtoAAsync": "srcHost=0",
    "cuMemcpyHtoD": "srcHost=0",
    "cuMemcpyHtoDAsync": "srcHost=0",
    "cuModuleGetGlobal": "dptr=500 bytes=500",
    "cuModuleLoadDataEx": "options=200 optionValues=200",
    "cuStreamGetCaptureInfo": "id_out=0 graph_out=0 "
    "dependencies_out=0 edgeData_out=0 numDependencies_out=0",
    "cuStreamGetCaptureInfo_v2": "id_out=0 graph_out=0 dependencies_out=0 numDependencies_out=0",
    "cuStreamGetCtx_v2": "pGreenCtx=0",
    "cuStreamUpdateCaptureDependencies": "dependencies=401 dependencyData=401",
    "cuTexObjectCreate": "pResViewDesc=400",
}


def test_a_null_pointer_is_refused_where_it_is_not_optional():
    environment = {**os.environ, "HALFWARP_BACKEND": "emulator"}
    done = subprocess.run(
        [sys.executable, SCRIPT], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    codes = json.loads(done.stdout)
    assert len(codes) > 350
    unusual = {}
    for name, row in codes.items():
        differing = {
            k: code for k, code in row.items() if code not in (INVALID_VALUE, NOT_SUPPORTED)
        }
        if differing:
            unusual[name] = " ".join(f"{parameter}={code}" for parameter, code in differing.items())
    assert unusual == OTHER_CODES
