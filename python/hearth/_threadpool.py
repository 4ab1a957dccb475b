"""Hearth in threadpoolctl's lists: threadpool_info() names it, threadpool_limits() sets its threads."""
import ctypes

from hearth._command import version


def register():
    """Once, where threadpoolctl is installed and knows how to be told."""
    try:
        import threadpoolctl
    except ImportError:
        return False
    if not hasattr(threadpoolctl, "register"):  # before 3.2
        return False
    if any(getattr(one, "internal_api", None) == "hearth" for one in threadpoolctl._ALL_CONTROLLERS):
        return True

    class HearthController(threadpoolctl.LibController):
        """libhearth.so, under whatever name a program asked for it."""

        user_api = "openmp"
        internal_api = "hearth"
        filename_prefixes = ("libhearth",)
        check_symbols = ("hearth_num_locations",)

        def get_num_threads(self):
            # Other libraries of Hearth begin with the same letters; check_symbols sorts them out afterwards.
            get = getattr(self.dynlib, "omp_get_max_threads", None)
            return None if get is None else get()

        def set_num_threads(self, num_threads):
            self.dynlib.omp_set_num_threads(ctypes.c_int(num_threads))

        def get_version(self):
            return version()

    threadpoolctl.register(HearthController)
    return True
