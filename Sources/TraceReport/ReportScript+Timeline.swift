extension ReportScript {
  /// Memory and lanes over one stretch of time, which both show.
  static let timeline = #"""
    const session = data.session;
    const time = { from: 0, to: 1, cursor: null, lane: null, rowHeight: 18 };
    if (session) time.to = time.whole = Math.max(1, session.microseconds);

    time.show = (from, to) => {
      const length = Math.min(time.whole, Math.max(time.whole / 1e5, 1, to - from));
      time.from = Math.max(0, Math.min(time.whole - length, from));
      time.to = time.from + length;
      time.draw();
    };
    time.zoom = (factor, around) => {
      const middle = around === undefined ? time.cursor ?? (time.from + time.to) / 2 : around;
      time.show(middle - (middle - time.from) * factor, middle + (time.to - middle) * factor);
    };
    time.place = (box, n) => box.left + (box.right - box.left) * (n - time.from) / (time.to - time.from);
    time.at = x => time.from + (x - time.box.left) / (time.box.right - time.box.left) * (time.to - time.from);
    // The last entry of a list that begins at or before a time; entries begin with their time.
    const before = (list, n) => {
      let low = 0, high = list.length;
      while (low < high) { const middle = (low + high) >> 1; if (list[middle][0] <= n) low = middle + 1; else high = middle; }
      return low - 1;
    };
    const total = step => step.slice(1).reduce((sum, n) => sum + n, 0);

    time.drawMemory = () => {
      const s = surface(at("memory")), pen = s.pen;
      const box = time.box = { left: 76, right: s.width - 12, top: 10, bottom: s.height - 26 };
      const limits = session.budgets.map(b => b[1]);
      const top = Math.max(1, session.peakBytes, ...limits) * 1.04;
      const y = { to: top, place: n => box.bottom - (box.bottom - box.top) * n / top, text: bytes, unit: unit(top) };
      const x = n => Math.max(box.left, Math.min(box.right, time.place(box, n)));
      session.keepLimits.forEach((limit, i) => {
        if (!limit[2]) return;
        const end = i + 1 < session.keepLimits.length ? session.keepLimits[i + 1][0] : time.whole;
        if (end < time.from || limit[0] > time.to) return;
        pen.fillStyle = color(limit[2] === 1 ? "warning" : "critical");
        pen.fillRect(x(limit[0]), box.top, Math.max(1, x(end) - x(limit[0])), box.bottom - box.top);
      });
      axes(s, box, { from: time.from, to: time.to, place: n => time.place(box, n), text: moment, unit: 1 }, y);
      pen.save(); pen.beginPath(); pen.rect(box.left, 0, box.right - box.left, s.height); pen.clip();
      const first = Math.max(0, before(session.memory, time.from));
      for (let group = session.groups.length; group >= 1; group--) {
        pen.fillStyle = color(series(group - 1));
        pen.beginPath(); pen.moveTo(x(time.from), box.bottom);
        for (let i = first; i < session.memory.length; i++) {
          const step = session.memory[i];
          if (step[0] > time.to) break;
          const level = y.place(step.slice(1, group + 1).reduce((sum, n) => sum + n, 0));
          const next = i + 1 < session.memory.length ? session.memory[i + 1][0] : time.whole;
          pen.lineTo(x(step[0]), level); pen.lineTo(x(next), level);
        }
        pen.lineTo(x(time.to), box.bottom); pen.fill();
      }
      const steps = (list, name, dash) => {
        pen.strokeStyle = color(name); pen.lineWidth = 2; pen.setLineDash(dash); pen.beginPath();
        list.forEach((limit, i) => {
          const end = i + 1 < list.length ? list[i + 1][0] : time.whole;
          pen[i ? "lineTo" : "moveTo"](x(limit[0]), y.place(limit[1]));
          pen.lineTo(x(end), y.place(limit[1]));
        });
        pen.stroke(); pen.setLineDash([]);
      };
      steps(session.keepLimits, "keep", [5, 4]);
      steps(session.budgets, "budget", []);
      time.drawCursor(pen, box);
      pen.restore();
    };
    time.drawCursor = (pen, box) => {
      if (time.drag) {
        pen.fillStyle = color("ink"); pen.globalAlpha = 0.12;
        const [from, to] = [time.place(box, time.drag[0]), time.place(box, time.drag[1])];
        pen.fillRect(Math.min(from, to), box.top, Math.abs(to - from), box.bottom - box.top);
        pen.globalAlpha = 1;
      }
      if (time.cursor === null) return;
      const place = Math.round(time.place(box, time.cursor)) + 0.5;
      pen.strokeStyle = color("ink"); pen.lineWidth = 1;
      pen.beginPath(); pen.moveTo(place, box.top); pen.lineTo(place, box.bottom); pen.stroke();
    };

    time.drawLanes = () => {
      const row = time.rowHeight, s = surface(at("lanes"), Math.max(row, session.lanes.length * row)), pen = s.pen;
      const narrow = s.width < 500;
      const box = { left: narrow ? 76 : 160, right: s.width - 12, top: 0, bottom: s.height };
      time.laneBox = box;
      pen.textBaseline = "middle"; pen.textAlign = "right";
      session.lanes.forEach((lane, i) => {
        const top = i * row;
        if (i === time.lane) { pen.fillStyle = color("grid"); pen.fillRect(0, top, s.width, row); }
        pen.fillStyle = color("ink");
        let text = lane.label;
        while (text.length > 1 && pen.measureText(text).width > box.left - 12) text = "…" + text.slice(text.startsWith("…") ? 2 : 1);
        pen.fillText(text, box.left - 6, top + row / 2);
        const bars = (spans, name, from, height) => {
          pen.fillStyle = color(name);
          for (const [start, end] of spans) {
            if (end < time.from || start > time.to) continue;
            const left = Math.max(box.left, time.place(box, start));
            pen.fillRect(left, top + from, Math.max(1, Math.min(box.right, time.place(box, end)) - left), height);
          }
        };
        bars(lane.ready, "ready", 4, row - 8);
        bars(lane.pinned, "pinned", row - 6, 4);
        bars(lane.generating, "generating", 2, row - 4);
      });
      time.drawCursor(pen, box);
    };
    time.readOut = () => {
      if (time.cursor === null) return;
      const step = session.memory[Math.max(0, before(session.memory, time.cursor))];
      const parts = session.groups.map((group, i) => [group || "no group", step[i + 1]]).filter(part => part[1] > 0);
      const limit = session.budgets[before(session.budgets, time.cursor)];
      at("memory-readout").textContent = "At " + moment(time.cursor) + ": " + bytes(total(step)) + " ready"
        + (limit ? " of " + bytes(limit[1]) : "")
        + (parts.length > 1 ? " (" + parts.map(part => part[0] + " " + bytes(part[1])).join(", ") + ")" : "");
      const lane = time.lane === null ? undefined : session.lanes[time.lane];
      if (!lane) return;
      const within = spans => spans.some(span => span[0] <= time.cursor && time.cursor <= span[1]);
      const state = ["generating", "pinned", "ready"].filter(name => within(lane[name])).join(", ") || "empty";
      at("lane-readout").textContent = lane.label + (lane.group ? " (" + lane.group + ")" : "") + ", " + bytes(lane.bytes)
        + ": " + state + "; " + lane.uses + " uses, " + lane.generations + " generations, " + duration(lane.nanoseconds);
    };
    time.draw = () => { time.drawMemory(); time.drawLanes(); time.readOut(); };

    time.listen = () => {
      const memory = at("memory"), lanes = at("lanes"), scroll = at("lane-scroll");
      memory.addEventListener("pointerdown", event => {
        memory.setPointerCapture(event.pointerId);
        const start = time.at(event.offsetX);
        time.drag = [start, start];
      });
      memory.addEventListener("pointermove", event => {
        time.cursor = Math.max(time.from, Math.min(time.to, time.at(event.offsetX)));
        if (time.drag) time.drag[1] = time.cursor;
        time.draw();
      });
      memory.addEventListener("pointerup", () => {
        const drag = time.drag;
        time.drag = null;
        if (drag && Math.abs(drag[1] - drag[0]) > (time.to - time.from) / 100) time.show(Math.min(...drag), Math.max(...drag));
        else time.draw();
      });
      memory.addEventListener("pointercancel", () => { time.drag = null; });
      memory.addEventListener("wheel", event => {
        event.preventDefault();
        time.zoom(event.deltaY > 0 ? 1.25 : 0.8, time.at(event.offsetX));
      }, { passive: false });
      lanes.addEventListener("pointermove", event => {
        const box = time.laneBox;
        const n = time.from + (event.offsetX - box.left) / (box.right - box.left) * (time.to - time.from);
        time.cursor = Math.max(time.from, Math.min(time.to, n));
        time.lane = Math.min(session.lanes.length - 1, Math.floor(event.offsetY / time.rowHeight));
        time.draw();
      });
      const keys = event => {
        const step = (time.to - time.from) / 50;
        const move = by => {
          time.cursor = Math.max(0, Math.min(time.whole, (time.cursor ?? time.from) + by));
          if (time.cursor < time.from || time.cursor > time.to) time.show(time.from + by * 10, time.to + by * 10);
        };
        const turn = by => {
          time.lane = Math.max(0, Math.min(session.lanes.length - 1, (time.lane ?? -1) + by));
          time.cursor ??= time.from;
          scroll.scrollTop = Math.max(0, (time.lane - 5) * time.rowHeight);
        };
        const actions = {
          ArrowLeft: () => move(-step), ArrowRight: () => move(step), Home: () => move(-time.whole), End: () => move(time.whole),
          "+": () => time.zoom(0.5), "=": () => time.zoom(0.5), "-": () => time.zoom(2), "0": () => time.show(0, time.whole),
          ArrowUp: () => turn(-1), ArrowDown: () => turn(1),
        };
        if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        actions[event.key]();
        time.draw();
      };
      memory.addEventListener("keydown", keys);
      scroll.addEventListener("keydown", keys);
      at("zoom-in").addEventListener("click", () => time.zoom(0.5));
      at("zoom-out").addEventListener("click", () => time.zoom(2));
      at("zoom-all").addEventListener("click", () => time.show(0, time.whole));
    };
    """#
}
