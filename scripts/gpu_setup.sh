# Sourced, from the root of the project: gives a bare machine what is carried along in the folder $wheels: wheels
# of what it lacks, and bubblewrap and its libraries as .deb. Into that folder, for Python 3.12 with torch,
# numba-cuda and CUDA 13.0 installed (cupti-python must be that of the CUPTI there):
#
#     pip download --no-deps --only-binary=:all: --python-version 3.12 --platform manylinux_2_28_x86_64 \
#         --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 \
#         numpy==2.4.6 cupti-python==13.0.1 greenlet==3.5.6 sqlalchemy==2.1.9 junitparser==5.0.3 pypdfium2==5.15.2 msgspec==0.22.0
#     apt-get download bubblewrap libcap2 libselinux1 libpcre2-8-0
site=/tmp/grader-wheels/site-packages # a sandbox shows folders of packages by this name
if ls "$wheels"/*.whl >/dev/null 2>&1; then
    python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target "$site" "$wheels"/*.whl
fi
export PYTHONPATH="$site:$PWD" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
if ! command -v bwrap >/dev/null && ls "$wheels"/*.deb >/dev/null 2>&1; then
    for package in "$wheels"/*.deb; do dpkg -x "$package" /tmp/grader-debs; done
    export PATH="/tmp/grader-debs/usr/bin:$PATH"
    bwrap --version >/dev/null 2>&1 ||
        export LD_LIBRARY_PATH="/tmp/grader-debs/lib/x86_64-linux-gnu:/tmp/grader-debs/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
