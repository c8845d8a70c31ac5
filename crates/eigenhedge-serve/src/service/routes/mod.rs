//! Routes of the service.

mod operations;
mod pages;
mod replies;
mod rows;
mod streams;

use super::gate::App;
use super::gate::gate;
use super::problem::Problem;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};

pub struct Route {
    pub path: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the description"))]
    pub methods: &'static [&'static str],
    make: fn() -> MethodRouter<App>,
}

pub const ROUTES: &[Route] = &[
    Route { path: "/v1/streams", methods: &["get"], make: || get(streams::list) },
    Route {
        path: "/v1/streams/{name}",
        methods: &["get", "put", "delete"],
        make: || get(streams::show).put(streams::create).delete(streams::delete),
    },
    Route { path: "/v1/streams/{name}/rows", methods: &["post"], make: || post(rows::learn) },
    Route { path: "/v1/streams/{name}/score", methods: &["post"], make: || post(rows::score) },
    Route { path: "/v1/streams/{name}/summary", methods: &["get"], make: || get(streams::summary) },
    Route { path: "/v1/streams/{name}/incidents", methods: &["get"], make: || get(streams::incidents) },
    Route {
        path: "/v1/streams/{name}/model",
        methods: &["get", "put"],
        make: || get(streams::model).put(streams::replace_model),
    },
    Route { path: "/v1/streams/{name}/accept", methods: &["post"], make: || post(rows::accept) },
    Route { path: "/v1/streams/{name}/events", methods: &["get"], make: || get(streams::events) },
    Route { path: "/v1/backup", methods: &["get"], make: || get(operations::backup) },
    Route { path: "/metrics", methods: &["get"], make: || get(operations::metrics) },
    Route { path: "/health", methods: &["get"], make: || get(operations::health) },
    Route { path: "/ready", methods: &["get"], make: || get(operations::ready) },
    Route { path: "/openapi.json", methods: &["get"], make: || get(operations::description) },
    Route { path: "/", methods: &["get"], make: || get(pages::first) },
    Route { path: "/try", methods: &["get"], make: || get(pages::try_page) },
    Route { path: "/streams/{name}", methods: &["get"], make: || get(pages::stream) },
    Route { path: "/v1/page", methods: &["get"], make: || get(pages::first_feed) },
    Route { path: "/v1/streams/{name}/page", methods: &["get"], make: || get(pages::stream_feed) },
    Route { path: "/login", methods: &["post"], make: || post(pages::login) },
    Route { path: "/service/service.js", methods: &["get"], make: || get(pages::script) },
    Route { path: "/service/service.css", methods: &["get"], make: || get(pages::style) },
];

pub fn router(app: App) -> Router {
    let routes = ROUTES.iter().fold(Router::new(), |routes, route| routes.route(route.path, (route.make)()));
    routes
        .merge(crate::live::assets::routes())
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "the address exists, but not with this method")
        })
        .layer(middleware::from_fn_with_state(app.clone(), gate))
        .with_state(app)
}
