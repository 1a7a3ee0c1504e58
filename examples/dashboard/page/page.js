// The map: fed by /events, which tells the present content at each connection and then what changes.

const byId = (id) => document.getElementById(id);
const map = byId("map");
const symbols = new Set(["good", "changing", "bad", "quiet"]);

/** Tiles by resource, namespace and name. A tile is its data and its element. */
const tiles = new Map();
/** Sections by namespace. */
const sections = new Map();
let resources = [];
let states = [];
/** Counts connections: what a connection has told again is of its generation, the rest is gone. */
let generation = 0;
let selected = null;
const recent = [];

// --- what the server says ---

function connect() {
  const events = new EventSource("events");
  events.onopen = () => { generation += 1; };
  events.onmessage = ({ data }) => {
    for (const message of JSON.parse(data)) handlers[message.op]?.(message);
    later();
  };
  events.onerror = () => {
    show("cut", "reconnecting", "");
    // A refusal ends an EventSource for good; a cut connection does not.
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
  };
}

const handlers = {
  hello(message) {
    resources = message.resources;
    states = resources.map(() => ({ state: "syncing", why: "" }));
    byId("source").textContent = `${resources.map(({ plural }) => plural).join(", ")} of ${message.source}`;
  },
  state(message) {
    states[message.resource] = message;
    const worst = ["syncing", "stale", "live"].find((word) => states.some(({ state }) => state === word));
    show(worst, worst, states.map(({ why }) => why).find((why) => why) ?? "");
  },
  tile(message) {
    const key = keyOf(message);
    const tile = tiles.get(key) ?? add(key, message);
    const newer = tile.data.version !== message.version;
    tile.generation = generation;
    Object.assign(tile.data, message);
    paint(tile);
    if (message.news || (newer && !tile.fresh)) flash(tile);
    tile.fresh = false;
  },
  gone(message) {
    const tile = tiles.get(keyOf(message));
    if (tile) remove(tile);
  },
  complete(message) {
    for (const tile of [...tiles.values()]) {
      if (tile.data.resource === message.resource && tile.generation !== generation) remove(tile);
    }
  },
};

function show(state, text, why) {
  const pill = byId("state");
  pill.dataset.state = state;
  if (pill.textContent !== text) pill.textContent = text;
  byId("why").textContent = why;
  byId("why").hidden = !why;
}

// --- tiles ---

const keyOf = ({ resource, namespace, name }) => `${resource}/${namespace}/${name}`;

function add(key, data) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "tile";
  element.tabIndex = -1;
  element.append(document.createElement("b"), document.createElement("small"));
  const item = document.createElement("li");
  item.append(element);
  const tile = { key, order: `${data.name}/${data.resource}`, data: { ...data, version: null }, element, item, fresh: true };
  item.tile = tile;
  tile.section = sectionOf(data.namespace);
  const { list } = tile.section;
  // In order of their names: the first that is greater, by halves.
  let [low, high] = [0, list.children.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list.children[middle].tile.order < tile.order) low = middle + 1; else high = middle;
  }
  list.insertBefore(item, list.children[low] ?? null);
  tiles.set(key, tile);
  return tile;
}

function sectionOf(namespace) {
  const known = sections.get(namespace);
  if (known) return known;
  const element = document.createElement("section");
  const heading = document.createElement("h2");
  const name = namespace || "cluster-wide";
  const count = document.createElement("span");
  heading.append(name, count);
  const list = document.createElement("ul");
  list.setAttribute("aria-label", `Objects in ${name}`);
  element.append(heading, list);
  const section = { namespace, element, list, count };
  const next = [...sections.values()].filter((other) => other.namespace > namespace).sort((a, b) => (a.namespace < b.namespace ? -1 : 1))[0];
  map.insertBefore(element, next?.element ?? null);
  sections.set(namespace, section);
  return section;
}

function paint(tile) {
  const { data, element } = tile;
  const kind = resources[data.resource]?.kind ?? "";
  data.tone = symbols.has(data.tone) ? data.tone : "quiet";
  element.dataset.tone = data.tone;
  element.children[0].textContent = data.name;
  element.children[1].textContent = [resources.length > 1 ? kind : "", data.status].filter(Boolean).join(" · ") || kind;
  element.title = `${kind} ${data.namespace ? `${data.namespace}/` : ""}${data.name}${data.status ? `, ${data.status}` : ""}`;
  element.setAttribute("aria-label", element.title);
  tile.text = [kind, data.namespace, data.name, data.status, data.node].join(" ").toLowerCase();
  filter(tile);
  if (selected === tile) describe();
}

function flash(tile) {
  const { classList } = tile.element;
  // Two names for one animation: the other one begins it anew.
  const second = classList.contains("news-a");
  classList.toggle("news-a", !second);
  classList.toggle("news-b", second);
  tile.data.changed = Date.now();
  recent.push(tile.data.changed);
}

function remove(tile) {
  tiles.delete(tile.key);
  recent.push(Date.now());
  if (selected === tile) select(null);
  tile.element.classList.add("gone");
  tile.element.disabled = true;
  setTimeout(() => {
    tile.item.remove();
    if (!tile.section.list.children.length) {
      tile.section.element.remove();
      if (sections.get(tile.section.namespace) === tile.section) sections.delete(tile.section.namespace);
    }
    later();
  }, 500);
}

// --- search ---

let words = [];
const tones = new Set();

function filter(tile) {
  const shown = words.every((word) => tile.text.includes(word)) && (!tones.size || tones.has(tile.data.tone));
  if (tile.item.hidden === shown) tile.item.hidden = !shown;
}

function search() {
  words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  tiles.forEach(filter);
  later();
}

byId("search").addEventListener("input", search);
byId("search-form").addEventListener("submit", (event) => event.preventDefault());
byId("tones").addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const { tone } = button.dataset;
  if (!tones.delete(tone)) tones.add(tone);
  button.setAttribute("aria-pressed", tones.has(tone));
  search();
});

// --- figures, once for many messages ---

let waiting = false;
function later() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; count(); });
}

function count() {
  const totals = { good: 0, changing: 0, bad: 0, quiet: 0 };
  const shown = new Map();
  let visible = 0;
  for (const tile of tiles.values()) {
    totals[tile.data.tone] += 1;
    const of = shown.get(tile.section) ?? { all: 0, visible: 0 };
    of.all += 1;
    if (!tile.item.hidden) { of.visible += 1; visible += 1; }
    shown.set(tile.section, of);
  }
  for (const button of byId("tones").querySelectorAll("button")) button.querySelector("b").textContent = totals[button.dataset.tone];
  for (const section of sections.values()) {
    const { all, visible } = shown.get(section) ?? { all: 0, visible: 0 };
    section.element.hidden = !visible;
    section.count.textContent = visible === all ? `${all}` : `${visible} of ${all}`;
    // One tile of each section is reached by Tab, the others by arrows.
    const first = [...section.list.children].find((item) => !item.hidden);
    if (first && section.entry !== first.tile && (!section.entry?.item.isConnected || section.entry.item.hidden)) enter(section, first.tile);
  }
  const filtered = words.length || tones.size;
  const text = `${filtered ? `${visible} of ` : ""}${tiles.size} object${tiles.size === 1 ? "" : "s"}`;
  if (byId("count").textContent !== text) byId("count").textContent = text;
  byId("empty").hidden = visible > 0 || !filtered;
  if (compact === null) document.body.classList.toggle("compact", byId("compact").checked = visible > 1500);
}

function enter(section, tile) {
  if (section.entry) section.entry.element.tabIndex = -1;
  section.entry = tile;
  tile.element.tabIndex = 0;
}

setInterval(() => {
  const since = Date.now() - 5000;
  while (recent[0] < since) recent.shift();
  byId("rate").textContent = `${(recent.length / 5).toFixed(1)} changes/s`;
  if (selected) describe();
}, 1000);

let compact = null;
byId("compact").addEventListener("change", ({ target }) => {
  compact = target.checked;
  document.body.classList.toggle("compact", compact);
});

// --- one object ---

function select(tile) {
  if (selected) selected.element.removeAttribute("aria-current");
  selected = tile;
  byId("details").hidden = !tile;
  if (!tile) return;
  tile.element.setAttribute("aria-current", "true");
  describe();
}

function describe() {
  const { data } = selected;
  const rows = [
    ["Kind", resources[data.resource]?.kind], ["Namespace", data.namespace], ["Status", data.status], ["Node", data.node],
    ["Age", data.created && duration(Date.now() / 1000 - data.created)], ["Version", data.version],
    ["Changed", data.changed && `${duration((Date.now() - data.changed) / 1000)} ago`],
  ];
  const list = document.createElement("dl");
  for (const [name, value] of rows.filter(([, value]) => value)) {
    const [term, description] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, description.textContent] = [name, value];
    list.append(term, description);
  }
  const name = document.createElement("b");
  name.textContent = data.name;
  byId("details").replaceChildren(name, list);
}

function duration(seconds) {
  const units = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  const [size, unit] = units.find(([size]) => seconds >= 2 * size) ?? [1, "s"];
  return `${Math.max(0, Math.floor(seconds / size))} ${unit}`;
}

map.addEventListener("click", ({ target }) => {
  const tile = target.closest("li")?.tile;
  if (tile) { enter(tile.section, tile); select(tile === selected ? null : tile); }
});

const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: Infinity, ArrowUp: -Infinity };
map.addEventListener("keydown", (event) => {
  const tile = event.target.closest("li")?.tile;
  const step = steps[event.key];
  if (!tile || !step) return;
  event.preventDefault();
  const all = [...tile.section.list.children].filter((item) => !item.hidden);
  const columns = all.findIndex((item) => item.offsetTop > all[0].offsetTop);
  const by = Math.abs(step) === Infinity ? Math.sign(step) * (columns < 0 ? all.length : columns) : step;
  const next = all[all.indexOf(tile.item) + by]?.tile;
  if (next) { enter(next.section, next); next.element.focus(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && event.target !== byId("search")) {
    event.preventDefault();
    byId("search").select();
  } else if (event.key === "Escape") {
    if (event.target === byId("search")) { byId("search").value = ""; search(); } else select(null);
  }
});

connect();
