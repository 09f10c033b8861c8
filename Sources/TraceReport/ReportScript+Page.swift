extension ReportScript {
  /// Fills the page: headings, tables, legends; draws anew when size or colours change.
  static let page = #"""
    // A table whose cells keep their exact numbers, for programs.
    function fill(table, columns, rows) {
      const head = add(add(table, "thead"), "tr");
      for (const column of columns) add(head, "th", column.title, column.name).scope = "col";
      const body = add(table, "tbody");
      for (const row of rows) {
        const line = add(body, "tr", undefined, row.className);
        for (const column of columns) {
          const value = column.value(row), cell = add(line, "td", column.text ? column.text(value) : value, column.name);
          if (column.name === "name") cell.title = value;
          if (typeof value === "number") cell.dataset.value = value;
          if (column.bar) {
            cell.textContent = "";
            add(cell, "span", undefined, "share").style.width = 100 * column.bar(row) + "%";
          }
        }
      }
    }
    const count = n => n.toLocaleString("en");
    const dash = n => n === null ? "" : count(n);

    const advice = data.advice;
    const today = advice.policies.find(p => p.policy === "lru");
    document.title = data.trace + " - memchunk report";
    at("title").textContent = data.trace;
    for (const [name, value, text] of [
      ["budgetBytes", advice.budgetBytes, bytes(advice.budgetBytes) + "|budget"],
      ...(advice.plannedWork.length ? [["plannedGenerations", advice.plannedGenerations,
        count(advice.plannedGenerations) + "|generations planned by the budget"]] : []),
      ...(advice.requests || !advice.plannedWork.length ? [["requests", advice.requests, count(advice.requests) + "|requests"],
        ["objects", advice.objects, count(advice.objects) + "|chunks, " + bytes(advice.footprintBytes) + " together"]] : []),
      ["missedNanoseconds", today.missedNanoseconds, duration(today.missedNanoseconds) + "|generating, by lru"],
      ["boundNanoseconds", advice.boundNanoseconds, duration(advice.boundNanoseconds) + "|at best, by any policy"],
    ]) {
      const item = add(at("tiles"), "li"), [big, small] = text.split("|");
      const number = add(item, "b", big);
      number.dataset.name = name;
      number.dataset.value = value;
      add(item, "span", small);
    }
    for (const sentence of data.sentences) add(at("sentences"), "li", sentence.trim());

    const largest = Math.max(1, ...advice.policies.map(p => p.missedNanoseconds));
    fill(at("policies"), [
      { title: "policy", name: "name", value: p => p.policy },
      { title: "", name: "chart", value: () => "", bar: p => p.missedNanoseconds / largest },
      { title: "time", value: p => p.missedNanoseconds, text: duration },
      { title: "of lru", value: p => p.missedNanoseconds / Math.max(1, today.missedNanoseconds), text: n => (100 * n).toFixed(1) + " %" },
      { title: "generations", value: p => p.misses, text: dash },
      { title: "bytes", value: p => p.missedBytes, text: n => n === null ? "" : bytes(n) },
    ], [...advice.policies,
      { policy: "no policy is below", missedNanoseconds: advice.boundNanoseconds, misses: null, missedBytes: null, className: "bound" }]);
    fill(at("curve-table"), [
      { title: "budget", value: p => p.budgetBytes, text: bytes },
      { title: "generations", value: p => p.misses, text: count },
      { title: "bytes", value: p => p.missedBytes, text: bytes },
      { title: "time", value: p => p.missedNanoseconds, text: duration },
    ], advice.curve);
    fill(at("dearest"), [
      { title: "chunk", name: "name", value: c => c.label },
      { title: "", name: "chart", value: () => "", bar: c => c.nanoseconds / Math.max(1, data.dearest[0].nanoseconds) },
      { title: "time", value: c => c.nanoseconds, text: duration },
      { title: "generations", value: c => c.generations, text: count },
      { title: "size", value: c => c.bytes, text: bytes },
    ], data.dearest);
    legend(at("curve-legend"), [
      ["lru", "s0", true], ["today's budget", "budget", true],
      ...(advice.knee ? [["where the curve bends", "keep", true]] : []), ["no policy is below, at today's budget", "s1", true],
    ]);

    if (session) {
      legend(at("memory-legend"), [
        ...session.groups.map((group, i) => [group || "no group", series(i)]), ["budget", "budget", true],
        ["may stay unused", "keep", true], ["pressure: warning", "warning"], ["critical", "critical"],
      ]);
      legend(at("lane-legend"), [["ready", "ready"], ["pinned", "pinned"], ["generating", "generating"]]);
      if (session.lanesLeftOut) at("lanes-left-out").textContent = "The " + session.lanes.length + " dearest; "
        + count(session.lanesLeftOut) + " are not shown.";
      const list = () => {
        const word = at("filter").value.toLowerCase();
        const shown = session.events.filter(e => !word || e[1].toLowerCase().includes(word) || e[2].toLowerCase().includes(word));
        at("events").textContent = "";
        fill(at("events"), [
          { title: "time", value: e => e[0], text: moment },
          { title: "what", name: "name", value: e => e[1] },
          { title: "chunk", name: "name", value: e => e[2] },
          { title: "bytes", value: e => e[3], text: bytes },
          { title: "took", value: e => e[4], text: n => n ? duration(n) : "" },
        ], shown.slice(0, 1000));
        at("events-count").textContent = count(shown.length) + " events" + (shown.length > 1000 ? ", the first 1,000 shown" : "")
          + (session.eventsLeftOut ? "; " + count(session.eventsLeftOut) + " earlier ones are not in this page" : "");
      };
      at("filter").addEventListener("input", list);
      list();
      time.listen();
    } else {
      at("time").remove();
      at("events-section").remove();
    }
    const draw = () => { curve.draw(); if (session) time.draw(); };
    addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    draw();
    document.documentElement.dataset.drawn = "yes";
    """#
}
