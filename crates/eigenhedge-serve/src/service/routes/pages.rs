//! HTML pages of all streams and of one stream. Their data are server-sent events from `/v1`, which may need a token.

use super::replies::{Answer, read_body};
use crate::live::sse;
use crate::live::{Feed, PageState, Parameters, assets, open_sections};
use crate::service::fields::check_name;
use crate::service::gate::App;
use crate::service::gate::COOKIE;
use crate::service::problem::Problem;
use crate::service::stream::{Handle, Seen};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use eigenhedge_pages::escape::markup;
use eigenhedge_pages::page::live;
use eigenhedge_pages::{Block, Page, Table, Tile};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

const PAUSE: Duration = Duration::from_millis(500);
const OPEN: usize = 64;
const STREAMS: usize = 500;

const TOKEN: usize = 512;

static PAGES: Semaphore = Semaphore::const_new(OPEN);

const SCRIPT: &str = include_str!("service.js");
const STYLE: &str = include_str!("service.css");

pub async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], SCRIPT)
        .into_response()
}

pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], STYLE).into_response()
}

fn shell(title: &str, feed: &str, stream: Option<&str>) -> Response {
    let page = live::shell(title, assets::FOLDER, feed);
    let head = "<link rel=\"stylesheet\" href=\"/service/service.css\">\n<script src=\"/service/service.js\" defer></script>\n</head>";
    let name = markup(stream.unwrap_or_default());
    let tools = format!("<nav id=\"tools\" data-stream=\"{name}\" aria-label=\"Service\"></nav>\n<main ");
    Html(page.replacen("</head>", head, 1).replacen("<main ", &tools, 1)).into_response()
}

pub async fn first() -> Response {
    shell("eigenhedge", "/v1/page", None)
}

pub async fn try_page(State(app): State<App>) -> Answer {
    let missing = || Problem::new(StatusCode::NOT_FOUND, "the service was started without --try eigenhedge.html");
    Ok(app.core.try_page.as_ref().ok_or_else(missing)?.respond())
}

pub async fn stream(Path(name): Path<String>) -> Answer {
    check_name(&name)?;
    Ok(shell(&name, &format!("/v1/streams/{name}/page"), Some(&name)))
}

/// Stores the token, unchecked, in a cookie that scripts cannot read and that other sites do not cause to be sent.
pub async fn login(State(app): State<App>, headers: HeaderMap, body: Body) -> Answer {
    let (body, _) = read_body(&app, &headers, body, TOKEN).await?;
    let token = std::str::from_utf8(&body).unwrap_or_default().trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';') {
        return Err(Problem::malformed("the body must be a token"));
    }
    let secure = if is_encrypted(&headers) { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{secure}");
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// As reported by a proxy.
fn is_encrypted(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_ascii_lowercase();
    let first = |text: &str| text.split(',').next().unwrap_or("").trim().to_owned();
    first(&text("x-forwarded-proto")) == "https"
        || first(&text("forwarded")).split(';').any(|pair| ["proto=https", "proto=\"https\""].contains(&pair.trim()))
}

pub async fn first_feed(State(app): State<App>, headers: HeaderMap) -> Answer {
    let core = Arc::clone(&app.core);
    let state = move || {
        let core = Arc::clone(&core);
        async move { Some(overview(&core.all())) }
    };
    feed(&app, &headers, BTreeSet::new(), state)
}

pub async fn stream_feed(
    State(app): State<App>,
    Path(name): Path<String>,
    query: Parameters,
    headers: HeaderMap,
) -> Answer {
    let handle = app.core.find(&name)?;
    let open = open_sections(query);
    let shown = open.clone();
    let state = move || {
        let (handle, open) = (Arc::clone(&handle), shown.clone());
        async move {
            let title = handle.name.clone();
            handle.load().await.ok()?;
            let page = handle.ask(move |engine| Ok(engine.page(&title, &open))).await.ok()?;
            Some(of_page(&page, &handle))
        }
    };
    feed(&app, &headers, open, state)
}

fn feed<F, S>(app: &App, headers: &HeaderMap, open: BTreeSet<String>, state: F) -> Answer
where
    F: Fn() -> S + Send + Sync + 'static,
    S: Future<Output = Option<PageState>> + Send + 'static,
{
    let busy = || Problem::busy("too many pages are open; close one");
    app.core.memory.check_learners(0)?;
    let place = PAGES.try_acquire().map_err(|_| busy())?;
    let feed = Feed::default();
    let subscription = feed.subscribe(sse::last_event_id(headers), open).ok_or_else(busy)?;
    let shutdown = app.shutdown.clone();
    tokio::spawn(async move {
        let mut before = None;
        while feed.wanted().is_watched && !shutdown.is_pulled() {
            let Some(state) = state().await else { break };
            if before.as_ref() != Some(&state) {
                feed.publish(state.clone());
                before = Some(state);
            }
            tokio::time::sleep(PAUSE).await;
        }
        drop(place);
    });
    Ok(sse::respond(subscription, app.shutdown.clone()))
}

fn of_page(page: &Page, handle: &Handle) -> PageState {
    let note = format!("{} rows", handle.seen().counts.rows);
    PageState { title: page.title.clone(), state: "running".into(), note, parts: page.parts() }
}

fn overview(all: &[Arc<Handle>]) -> PageState {
    let line = |handle: &&Arc<Handle>| {
        let Seen { counts, alarms, incidents, worst, was_loaded, .. } = &*handle.seen();
        let state = match (was_loaded, incidents) {
            (false, _) => "loading".to_owned(),
            (true, 0) => "normal".to_owned(),
            (true, 1) => worst.clone(),
            (true, more) => format!("{worst}, and {} more", more - 1),
        };
        vec![handle.name.clone(), state, counts.last_row_text(), counts.rows.to_string(), alarms.to_string()]
    };
    let mut order: Vec<&Arc<Handle>> = all.iter().collect();
    order.sort_by_cached_key(|handle| std::cmp::Reverse(handle.seen().incidents));
    let columns = ["stream", "state", "last rows", "rows", "alarms"].map(str::to_owned).to_vec();
    let sum = |of: fn(&Seen) -> u64| all.iter().map(|handle| of(&handle.seen())).sum::<u64>();
    let tile = |value: u64, label: &str| Tile { value: value.to_string(), label: label.to_owned(), ..Tile::default() };
    let open = sum(|seen| seen.incidents);
    let open = tile(open, if open == 1 { "open incident" } else { "open incidents" });
    let open = Tile { tone: if open.value == "0" { "" } else { "alarm" }, ..open };
    let rows = order.iter().take(STREAMS).map(line).collect();
    let table = Table { title: "Streams".into(), columns, rows, ..Table::default() };
    let page = Page {
        title: "eigenhedge".into(),
        subtitle: "Streams of this service".into(),
        blocks: vec![
            Block::Tiles(vec![
                open,
                tile(all.len() as u64, if all.len() == 1 { "stream" } else { "streams" }),
                tile(sum(|seen| seen.counts.rows), "rows"),
            ]),
            Block::Table(table),
        ],
        ..Page::default()
    };
    PageState { title: page.title.clone(), state: "running".into(), note: "Running.".into(), parts: page.parts() }
}
