"""Headless Chromium as Debian has it, through its driver."""
import time

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

CHROMEDRIVER = "/usr/bin/chromedriver"
PATIENCE_S = 20
AXE = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).slice(0, 3).join(' | '))))"


class Browser:
    def __init__(self, axe):
        self.axe = axe.read_text(encoding="utf-8") if axe else ""
        options = webdriver.ChromeOptions()
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,900"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
        self.driver.set_script_timeout(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def size(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 700})

    def open(self, url, theme, again=True):
        """`again`: with a page of its own, also where only what follows # differs."""
        if again:
            self.driver.get("about:blank")
        self.driver.get(url)
        self.js("document.documentElement.dataset.theme = arguments[0]", theme)

    def fresh(self, url):
        self.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        self.driver.get("about:blank")
        self.driver.get(url)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def has(self, selector):
        return bool(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self, selector):
        try:
            return self.driver.find_element(By.CSS_SELECTOR, selector).text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.replace(/\\s+/g, ' ').trim())", selector)

    def row(self, request):
        return self.js("return document.querySelector(arguments[0])?.closest('tr').textContent ?? ''", f"a[href='#/decisions/{request}']")

    def click(self, selector):
        """As a script does: rows move while they are looked at."""
        self.until(lambda: self.has(selector), selector)
        self.js("document.querySelector(arguments[0]).click()", selector)

    def fill(self, selector, text):
        self.js("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
                "e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true}))", selector, text)

    def quiet(self):
        """A heading, and the gateway has answered."""
        return self.text("h1") != "" and "ready" in self.text("#gateway")

    def until(self, condition, what, seconds=PATIENCE_S):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds} s: {what}; the page says: {self.text('#gateway')} | {self.text('main')[:500]}")
            time.sleep(0.05)  # between two looks

    def violations(self):
        if not self.js("return typeof axe === 'object'"):
            self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": self.axe})
        return self.driver.execute_async_script(AXE)

    def complaints(self):
        """What the browser's log has since this was asked last, without notes."""
        return [f"the browser's log: {entry['message']}" for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, path):
        self.driver.save_screenshot(str(path))
