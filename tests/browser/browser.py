"""A headless Chromium without network, and axe-core for accessibility. What is missing is said, and the suite skipped."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77
AXE_VERSION = "4.14.1"
AXE_SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
FLAGS = ("--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
         "--disable-sync --disable-quic --hide-scrollbars --force-color-profile=srgb").split()


def skip(why):
    print(f"SKIPPED: {why}; tools/setup browser installs it")
    sys.exit(SKIPPED)


def find_selenium():
    """Debian's is for Debian's Python: go on there if this is another one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        system = "/usr/bin/python3"
        if os.environ.get("HEARTH_BROWSER_PYTHON") or not os.path.exists(system):
            skip("python3-selenium is missing")
        os.environ["HEARTH_BROWSER_PYTHON"] = system
        os.execv(system, [system, *sys.argv])
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            skip(f"{program} is missing")


def open_browser(width=1280, height=900):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    options = Options()
    for flag in FLAGS + [f"--window-size={width},{height}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options)
    driver.set_script_timeout(60)
    return driver


def emulate(driver, scheme="light", media="", width=None, height=900):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    if width is None and height == 900:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    else:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": width or 1280, "height": height, "deviceScaleFactor": 1, "mobile": False})


def requests_of(driver):
    """What the browser has asked for since this was called last, but data: addresses."""
    asked = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith("data:"):
                asked.append(url)
    return asked


def axe_script(build):
    """The text of axe-core, from npm's registry, checked; None where that cannot be reached."""
    kept = pathlib.Path(build) / "axe-core" / f"{AXE_VERSION}.js"
    if kept.exists():
        return kept.read_text(encoding="utf-8")
    if not shutil.which("npm"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["npm", "pack", f"axe-core@{AXE_VERSION}", "--silent"], cwd=folder, capture_output=True, text=True,
                                timeout=120)
        files = list(pathlib.Path(folder).glob("*.tgz"))
        if packed.returncode != 0 or len(files) != 1:
            return None
        digest = base64.b64encode(hashlib.sha512(files[0].read_bytes()).digest()).decode()
        if digest != AXE_SHA512:
            raise RuntimeError(f"axe-core {AXE_VERSION} has the checksum {digest}, not {AXE_SHA512}")
        with tarfile.open(files[0]) as archive:
            text = archive.extractfile("package/axe.min.js").read().decode("utf-8")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, encoding="utf-8")
    return text
