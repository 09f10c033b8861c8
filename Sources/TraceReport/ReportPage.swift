/// The page around the data: a heading, sections that its script fills, and nothing from elsewhere.
enum ReportPage {
  static func text(data: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
    <title>memchunk report</title>
    <style>
    \(ReportStyle.text)
    </style>
    </head>
    <body>
    \(body)
    <script type="application/json" id="data">\(data)</script>
    <script>
    \(ReportScript.charts)
    \(ReportScript.timeline)
    \(ReportScript.page)
    </script>
    </body>
    </html>

    """
  }

  private static let body = """
    <header>
      <h1 id="title">Report</h1>
      <ul class="tiles" id="tiles"></ul>
    </header>
    <main>
      <section aria-labelledby="h-advice"><h2 id="h-advice">Advice</h2><ul id="sentences"></ul></section>
      <section aria-labelledby="h-memory" id="time">
        <h2 id="h-memory">Memory over time</h2>
        <ul class="legend" id="memory-legend"></ul>
        <canvas id="memory" tabindex="0" role="img" aria-label="Bytes ready over time, by group"></canvas>
        <p class="readout" id="memory-readout" aria-live="polite"></p>
        <div class="bar" role="group" aria-label="Time shown">
          <button id="zoom-in" title="Zoom in (+)">+</button>
          <button id="zoom-out" title="Zoom out (-)">&minus;</button>
          <button id="zoom-all" title="Show all (0)">All</button>
          <span class="hint">Drag to choose a time, wheel or + and &minus; to zoom, arrows to move, 0 for all.</span>
        </div>
        <h2>Chunks</h2>
        <ul class="legend" id="lane-legend"></ul>
        <div class="scroll" id="lane-scroll" tabindex="0" aria-label="Chunks, a lane each">
          <canvas id="lanes" role="img" aria-label="When each chunk was ready, pinned and generating"></canvas>
        </div>
        <p class="readout" id="lane-readout" aria-live="polite"></p>
        <p class="hint" id="lanes-left-out"></p>
      </section>
      <section aria-labelledby="h-curve">
        <h2 id="h-curve">Time generating, by budget</h2>
        <ul class="legend" id="curve-legend"></ul>
        <canvas id="curve" tabindex="0" role="img" aria-label="Time spent generating at each budget under lru"></canvas>
        <p class="readout" id="curve-readout" aria-live="polite"></p>
        <details><summary>As a table</summary><div class="scroll"><table id="curve-table"></table></div></details>
      </section>
      <section aria-labelledby="h-policies">
        <h2 id="h-policies">Policies at today's budget</h2>
        <div class="scroll"><table id="policies"></table></div>
      </section>
      <section aria-labelledby="h-dearest">
        <h2 id="h-dearest">Dearest chunks</h2>
        <div class="scroll"><table id="dearest"></table></div>
      </section>
      <section aria-labelledby="h-events" id="events-section">
        <h2 id="h-events">Events</h2>
        <p><label>Show only <input id="filter" type="search" placeholder="label or kind" autocomplete="off"></label>
          <span class="hint" id="events-count"></span></p>
        <div class="scroll tall" tabindex="0"><table id="events"></table></div>
      </section>
    </main>
    """
}
