// node visit.mjs STEPS.json: drives Firefox over WebDriver BiDi and prints what the page answered, as JSON.
//
// STEPS is {firefox, address, steps: [{until: condition} | {do: expression} | {run: expression}]}, conditions
// and expressions of JavaScript; the answers are those of the `run`s.
import { readFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const { firefox, address, steps, longest_ms } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true });
try {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error.message)));
  await page.goto(address);
  const answers = [];
  for (const { until, do: act, run } of steps) {
    if (until) await page.waitForFunction(until, { timeout: longest_ms, polling: 50 }).catch((error) => {
      throw new Error(`it never became true: ${until}`, { cause: error });
    });
    else if (act) await page.evaluate(`void ${act}`);
    else answers.push(await page.evaluate(run));
  }
  console.log(JSON.stringify({ answers, complaints }));
} finally {
  await browser.close();
}
